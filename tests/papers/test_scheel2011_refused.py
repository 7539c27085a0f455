"""`gainful papers scheel2011 --letor`: what is no OHSUMED of LETOR 3.0 is refused, with the file and the line."""

from __future__ import annotations

from pathlib import Path

import pytest

from gainful.errors import InputError, UsageError
from gainful_papers.scheel2011 import study

from .letor_samples import Document, made_up, tables, write


class TestRefused:
    @pytest.fixture
    def documents(self) -> list[Document]:
        return made_up()

    def refused(self, folder: Path) -> str:
        with pytest.raises(InputError) as error:
            study(folder)
        assert "OHSUMED collection of LETOR 3.0 with raw features" in str(error.value)
        return str(error.value)

    def test_nothing_there(self, tmp_path):
        assert "expected a folder with LETOR files, found nothing there" in self.refused(tmp_path / "nowhere")

    def test_a_file(self, tmp_path):
        (tmp_path / "file").write_text("")
        assert "expected a folder with LETOR files, found a file" in self.refused(tmp_path / "file")

    def test_no_letor_files(self, tmp_path):
        (tmp_path / "qrels.txt").write_text("q1 0 d1 1\n")
        (tmp_path / "empty").write_text("")
        (tmp_path / "picture").write_bytes(b"\x89PNG\r\n\x1a\n\x00\x00")
        assert "expected LETOR files, found none" in self.refused(tmp_path)

    def test_normalised_features(self, tmp_path, documents):
        normalised = [
            each._replace(features=tuple(max(0.0, min(1.0, v / 30)) for v in each.features)) for each in documents
        ]
        assert "expected raw features, found normalised ones" in self.refused(write(tmp_path, normalised))

    def test_another_collection(self, tmp_path, documents):
        others = [each._replace(features=(*each.features, 1.0)) for each in documents]
        assert "expected 45 features, found 46" in self.refused(write(tmp_path, others))

    def test_a_query_in_two_files(self, tmp_path, documents):
        write(tmp_path, documents)
        (tmp_path / "Fold3.testset.txt").write_text((tmp_path / "Fold1.testset.txt").read_text())
        with pytest.raises(
            InputError, match=r"Fold3.testset.txt: expected every query in one file, found '1'"
        ) as error:
            study(tmp_path)
        assert "found '1', which" in str(error.value)
        assert "training sets repeat it" in str(error.value)

    def test_nothing_relevant_at_all(self, tmp_path, documents):
        with pytest.raises(InputError, match="expected grades above 0, found none"):
            study(write(tmp_path, [each._replace(grade=0.0) for each in documents]))

    @pytest.mark.parametrize(
        ("damage", "found"),
        [
            (lambda text: text[: text.rindex(" 11:")], "no feature 11"),
            (lambda text: text[: text.rindex(" 45:")], "no feature 45"),
            (lambda text: text[: text.rindex("#")], "no document"),
            (lambda text: text[: text.rindex("=") + 2], "no document"),
            (lambda text: text[: text.rindex(" 9:")] + text[text.rindex(" 10:") :], "no feature 9"),
            (lambda text: text[: text.rindex(" 9:")] + " 9;" + text[text.rindex(" 9:") + 3 :], "no feature 9"),
            (lambda text: text[: text.rindex(" 9:")] + " 8:1" + text[text.rindex(" 10:") :], "no feature 9"),
        ],
        ids=["features", "last feature", "comment", "document", "one feature", "damaged", "one feature twice"],
    )
    def test_a_line_that_lacks_something_is_named(self, tmp_path, documents, damage, found):
        """Elsewhere a feature that a line lacks is 0; here every line has all of them, unless it was cut off."""
        write(tmp_path, documents)
        path = tmp_path / "Fold2.testset.txt"
        path.write_text(damage(path.read_text()))
        with pytest.raises(InputError) as error:
            study(tmp_path)
        expected = f"expected the features 1 to 45 and `#docid = document`, found {found}"
        assert f"Fold2.testset.txt:36: {expected}\n" in str(error.value)
        assert "was the file cut off?" in str(error.value)

    def test_many_lines_that_lack_something(self, tmp_path, documents):
        write(tmp_path, documents)
        path = tmp_path / "Fold1.testset.txt"
        first, *rest = path.read_text().splitlines()
        path.write_text("\n".join([first, *(each.replace(" 7:", " 6:") for each in rest)]))
        with pytest.raises(InputError) as error:
            study(tmp_path)
        assert str(error.value).count("found no feature 7") == 3
        assert "... and 20 more like these" in str(error.value)

    @pytest.mark.parametrize(
        ("added", "found"), [(" 1:3 1:9", "feature 1 3 times"), (" 045:7", "feature 45 twice")], ids=["thrice", "twice"]
    )
    def test_a_feature_given_twice_is_named(self, tmp_path, documents, added, found):
        """Which of its values was meant nobody knows."""
        write(tmp_path, documents)
        path = tmp_path / "Fold2.testset.txt"
        lines = path.read_text().splitlines()
        lines[4] = lines[4].replace(" #docid", f"{added} #docid")
        path.write_text("\n".join(lines))
        with pytest.raises(InputError) as error:
            study(tmp_path)
        expected = f"Fold2.testset.txt:5: expected the features 1 to 45 and `#docid = document`, found {found}\n"
        assert expected in str(error.value)
        assert "cut off" not in str(error.value)

    @pytest.mark.parametrize("grade", [2, 1], ids=["the same grade", "another grade"])
    def test_a_document_given_twice_is_named(self, tmp_path, documents, grade):
        """In its own file, and with nothing but what can be done: the paper takes no options for judges or repeats."""
        write(tmp_path, documents)
        path = tmp_path / "Fold2.testset.txt"
        lines = path.read_text().splitlines()
        assert lines[0].startswith("2 qid:2 ")
        path.write_text("\n".join([*lines, f"{grade}{lines[0][1:]}"]))
        with pytest.raises(InputError) as error:
            study(tmp_path)
        where, rest = str(error.value).split(": ", 1)
        assert where == f"{path}:37"
        assert "found 'd00' again for query '2' (first: line 1)" in rest
        assert f"\n    {grade} qid:2 1:" in rest
        assert error.value.hint.startswith("keep one of the lines")
        assert "--" not in str(error.value)

    def test_order_blanks_comments_and_line_ends_do_not_matter(self, tmp_path, documents):
        plain = study(write(tmp_path / "plain", documents))
        write(tmp_path / "other", documents)
        path = tmp_path / "other/Fold1.testset.txt"
        lines = [
            each.replace(" 1:", " 001:").replace("#docid = ", "# x = 1 docid=")
            for each in path.read_text().splitlines()
        ]
        swapped = [" ".join([*(fields := each.split(" "))[:2], fields[3], fields[2], *fields[4:]]) for each in lines]
        path.write_bytes("\r\n".join(["\ufeff" + swapped[0], "", "# a comment", *swapped[1:]]).encode())
        other = study(tmp_path / "other")
        assert [t.rows for t in tables(other, "Figure 8")] == [t.rows for t in tables(plain, "Figure 8")]

    @pytest.mark.parametrize("folder", [3, None, b"folder"])
    def test_what_is_no_path(self, folder):
        with pytest.raises(UsageError, match="letor: expected the path of a folder, found"):
            study(folder)
