"""Judgments: what they are like, and whether judges agree: `gainful judgments`."""
