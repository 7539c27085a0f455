"""`gainful papers scheel2011 --letor`: what is no OHSUMED of LETOR 3.0 is refused, with the file and the line."""

from __future__ import annotations

from pathlib import Path

import pytest

from gainful.errors import InputError, UsageError
from gainful_papers.scheel2011 import study

from .letor_samples import Document, made_up, write


class TestRefused:
    @pytest.fixture
    def documents(self) -> list[Document]:
        return made_up()

    def refused(self, folder: Path) -> str:
        with pytest.raises(InputError) as error:
            study(folder)
        assert "OHSUMED from LETOR 3.0 with raw features" in str(error.value)
        return str(error.value)

    def test_nothing_there(self, tmp_path):
        assert "no such folder" in self.refused(tmp_path / "nowhere")

    def test_a_file(self, tmp_path):
        (tmp_path / "file").write_text("")
        assert "not a folder" in self.refused(tmp_path / "file")

    def test_no_letor_files(self, tmp_path):
        (tmp_path / "empty").write_text("")
        assert "no LETOR files" in self.refused(tmp_path)
        (tmp_path / "qrels.txt").write_text("q1 0 d1 1\n")
        with pytest.raises(InputError, match=r"qrels.txt:1: expected `grade qid:query` at the start of the line"):
            study(tmp_path)

    def test_normalised_features(self, tmp_path, documents):
        normalised = [
            each._replace(features=tuple(max(0.0, min(1.0, v / 30)) for v in each.features)) for each in documents
        ]
        assert "features are normalised" in self.refused(write(tmp_path, normalised))

    def test_another_collection(self, tmp_path, documents):
        others = [each._replace(features=(*each.features, 1.0)) for each in documents]
        assert "expected 45 features, found 46" in self.refused(write(tmp_path, others))

    def test_a_query_in_two_files(self, tmp_path, documents):
        write(tmp_path, documents)
        (tmp_path / "Fold3.testset.txt").write_text((tmp_path / "Fold1.testset.txt").read_text())
        with pytest.raises(InputError, match=r"duplicate document 'd00'"):
            study(tmp_path)

    def test_nothing_relevant_at_all(self, tmp_path, documents):
        with pytest.raises(InputError, match="no grade is above 0"):
            study(write(tmp_path, [each._replace(grade=0.0) for each in documents]))

    @pytest.mark.parametrize(
        ("damage", "found"),
        [
            (lambda text: text[: text.rindex(" 45:")], "expected #docid = as on other lines"),
            (lambda text: text.replace(" 9:", " 9;", 1), "expected feature:value"),
        ],
        ids=["cut off", "damaged"],
    )
    def test_a_faulty_line_is_named(self, tmp_path, documents, damage, found):
        write(tmp_path, documents)
        path = tmp_path / "Fold2.testset.txt"
        path.write_text(damage(path.read_text()))
        with pytest.raises(InputError) as error:
            study(tmp_path)
        assert str(error.value).startswith(f"{path}:")
        assert found in str(error.value)

    @pytest.mark.parametrize("folder", [3, None, b"folder"])
    def test_what_is_no_path(self, folder):
        with pytest.raises(UsageError, match="letor: expected the path of a folder, found"):
            study(folder)
