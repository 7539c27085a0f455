"""`gainful judgments`: what is in judgments, and how far two sets of them agree."""

from __future__ import annotations

import sys
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import click

from gainful.cli.inputs import input_options
from gainful.cli.options import (
    measures_from,
    output_from,
    output_options,
    policy_from,
    policy_options,
    several_measures_option,
)
from gainful.data.collection import Inputs, named_runs, read_once
from gainful.errors import UsageError
from gainful.notation import read_number
from gainful.policy import Policy

if TYPE_CHECKING:
    from gainful.data.qrels import Qrels
    from gainful.pages.page import Page
    from gainful.tasks.judgments.orders import SystemOrders

_PATH = click.Path(allow_dash=True)
_MEASURES = ("nDCG@10",)


@click.command("judgments")
@click.argument("a", type=_PATH)
@click.argument("b", type=_PATH, required=False)
@click.option("--run", "runs", type=_PATH, multiple=True, help="A run to be scored by both; may be repeated.")
@several_measures_option(_MEASURES)
@click.option("--rel", metavar="G", help="Relevant from grade G on.  [default: any grade above 0]")
@output_options
@click.option("--by-query", is_flag=True, help="Every query by itself, not only how they are spread.")
@click.option("--draws", type=click.IntRange(0), default=1000, show_default=True, help="Resamples for the intervals.")
@click.option("--seed", type=click.IntRange(0), default=0, show_default=True, help="Another seed, other resamples.")
@click.option("--name", "names", multiple=True, help="A run's name; once for every run, in their order.")
@click.option("--scale", metavar="G", help="The highest grade there can be.  [default: the highest in the judgments]")
@input_options
@policy_options
@click.option("--quiet", "-q", is_flag=True, help="No notices.")
def command(a: str, b: str | None, **options: Any) -> None:
    """Describe the judgments A: levels, recall bases, what is odd. With B, say how far the two agree.

    A and B are two assessors, people and a language model, old and new. On the documents that both judge: a table of
    their grades with the per cent of each level of A, agreement exact and by distance, Cohen's kappa, Krippendorff's
    alpha and bias, with bootstrap intervals over queries. With --run: whether the order of systems changes.

    Example: gainful judgments human.txt model.txt --run bm25.run --run dense.run
    """
    policy, output, inputs = (
        policy_from(options),
        output_from(options, a, b, *options["runs"]),
        Inputs.taken_from(options),
    )
    runs: tuple[str, ...] = options["runs"]
    _check(a, b, runs, options)
    if b is None:
        output.write(_described(inputs.read_qrels(a), policy, options))
        return
    page, orders = _compared((a, b), named_runs(runs, options["names"]), inputs, policy, options)
    output.write(page)
    if orders and not options["quiet"]:
        from gainful.evaluation.notices import notices

        sys.stdout.flush()
        for side, evaluations in (("A", orders.evaluations_a), ("B", orders.evaluations_b)):
            sys.stderr.writelines(f"notice: by {side}: {line}\n" for line in notices(evaluations))


def _check(a: str, b: str | None, runs: tuple[str, ...], options: dict[str, Any]) -> None:
    read_once(a, b, *runs)
    if runs and b is None:
        raise UsageError(
            "--run: expected two sets of judgments that may order systems differently, found one",
            "gainful judgments A B --run RUN; gainful eval scores runs by one set",
        )
    if not runs and options["measures"]:
        raise UsageError("--measure: expected runs to be scored, found none", "--run names one")


def _read(path: str, inputs: Inputs, options: dict[str, Any]) -> Qrels:
    """Judgments on the scale that was given, unless they exceed it: that is found odd, not refused."""
    qrels, scale = inputs.read_qrels(path), _number(options, "scale")
    return qrels if scale is None or scale < qrels.scale else replace(qrels, scale=scale)


def _number(options: dict[str, Any], name: str) -> float | None:
    return None if options[name] is None else read_number(options[name], f"--{name}")


def _described(qrels: Qrels, policy: Policy, options: dict[str, Any]) -> Page:
    from gainful.tasks.judgments.description import describe_judgments, description_page

    found = describe_judgments(qrels, policy=policy, rel=_number(options, "rel"), scale=_number(options, "scale"))
    return description_page(found, options["by_query"])


def _compared(
    sides: tuple[str, str], runs: dict[str, str], inputs: Inputs, policy: Policy, options: dict[str, Any]
) -> tuple[Page, SystemOrders | None]:
    from gainful.data.judged import Judged
    from gainful.tasks.judgments.description import describe_judgments
    from gainful.tasks.judgments.judges import compare_judgments
    from gainful.tasks.judgments.judges_page import comparison_page, order_parts, side_parts, signatures
    from gainful.tasks.judgments.orders import compare_orders

    rel, measures = _number(options, "rel"), measures_from(options["measures"] or _MEASURES, options["rel"])
    judged_a, judged_b = (Judged(_read(path, inputs, options), policy) for path in sides)
    found = compare_judgments(judged_a, judged_b, rel=rel, draws=options["draws"], seed=options["seed"])
    page = comparison_page(found, options["by_query"])
    scale = _number(options, "scale")
    of_a, of_b = (describe_judgments(judged, rel=rel, scale=scale) for judged in (judged_a, judged_b))
    parts = [*page.parts, *side_parts(of_a, of_b, options["by_query"])]
    if not runs:
        return replace(page, parts=tuple(parts)), None
    orders = compare_orders(judged_a, judged_b, inputs.runs(runs), measures)
    parts += [part for comparison in orders.comparisons for part in order_parts(comparison)]
    return replace(page, parts=tuple(parts), notes=signatures(orders)), orders
