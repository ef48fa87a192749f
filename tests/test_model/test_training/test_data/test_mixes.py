"""Many corpora: groups of licences in a mix, files of one corpus each, and what the card says of them."""

from __future__ import annotations

import pytest

from model.__main__ import main
from model.training.data.corpora import CORPORA, GROUPS, MORE, find, load_corpus, parse_mix
from model.training.loop import Trainer
from model.training.presets import PRESETS
from tests.test_model.test_training.language import sentence_pairs, tiny_run, write_gz


def test_every_corpus_has_a_group_a_share_and_a_licence():
    assert {corpus.group for corpus in CORPORA.values()} == set(GROUPS)
    assert len(MORE) == 37 and all(0 < CORPORA[name].share <= 1 and CORPORA[name].licence for name in MORE)
    assert CORPORA["multi30k"].group == CORPORA["xdailydialog"].group == "nc" and CORPORA["tatoeba"].group == "by"
    assert not set(GROUPS) & set(CORPORA)


def test_a_group_stands_for_its_corpora_and_what_is_named_besides_counts():
    everything = parse_mix("all")
    assert everything == {name: corpus.share for name, corpus in CORPORA.items() if corpus.share}
    assert parse_mix(" + ".join(GROUPS)) == everything
    by = parse_mix("0.5*by + 2*tatoeba + 0*tldr")
    assert by["tatoeba"] == 2 and by["qald"] == 0.5 and "tldr" not in by
    assert {CORPORA[name].group for name in by} == {"by"}
    assert parse_mix("cc0 + tatoeba + 0.3*back-thorsten") == {"mlqe-pe": 1, "tatoeba": 1, "back-thorsten": 0.3}


@pytest.mark.parametrize("mix", ["by + by", "cc1", "back-", "all + 2*all"])
def test_a_wrong_group_is_refused(mix):
    with pytest.raises(ValueError, match="unknown corpus|named twice"):
        parse_mix(mix)


def test_the_free_preset_has_free_data_only_and_the_public_one_what_can_be_fetched():
    groups = {find(name).group for name in parse_mix(PRESETS["en-de-free"].training.data)}
    assert groups == {"cc0", "by", "perm", "sa"}
    assert not set(parse_mix(PRESETS["en-de-public"].training.data)) & set(MORE)
    assert PRESETS["en-de"].training.data == PRESETS["de-en"].training.data
    assert set(parse_mix(PRESETS["en-de"].training.data)) > set(MORE)


def test_the_files_are_for_training_only(tmp_path):
    write_gz(tmp_path / "more-de-en" / "pud.tsv.gz", ["one\teins", "two\tzwei"])
    write_gz(tmp_path / "back-translated" / "mine.tsv.gz", ["three\tdrei"])
    assert load_corpus(tmp_path, "pud", "train", ("de", "en")) == [("eins", "one"), ("zwei", "two")]
    assert load_corpus(tmp_path, "back-mine", "train", ("en", "de")) == [("three", "drei")]
    assert load_corpus(tmp_path, "pud", "valid", ("en", "de")) == []
    with pytest.raises(ValueError, match=r"xquad\.tsv\.gz does not exist"):
        load_corpus(tmp_path, "xquad", "train", ("en", "de"))


def test_a_missing_folder_is_answered_with_what_makes_it(tmp_path, capsys):
    with pytest.raises(ValueError, match=r"python -m model backtranslate --out .*back-translated/mine\.tsv\.gz"):
        load_corpus(tmp_path, "back-mine", "train", ("en", "de"))
    assert main(["download", "pud", "--data-dir", str(tmp_path)]) == 2
    error = capsys.readouterr().err
    assert "no public original" in error and f"{tmp_path / 'more-de-en' / 'pud.tsv.gz'}" in error
    assert len(error.splitlines()) == 1


def test_a_run_trains_on_them_validates_on_what_has_a_set_and_says_so_on_its_card(data_dir, tmp_path):
    (tmp_path / "multi30k").symlink_to(data_dir / "multi30k", target_is_directory=True)
    pairs = sentence_pairs(40, seed=3)
    write_gz(tmp_path / "more-de-en" / "pud.tsv.gz", ["\t".join(pair) for pair in pairs])
    run = tiny_run(data="multi30k + 0.5*pud", steps=2, validation_pairs=8)
    trainer = Trainer(run, tmp_path, tmp_path / "run")
    assert set(trainer.validation.run(trainer.averaged())) == {
        f"valid_{kind}.multi30k" for kind in ("perplexity", "nats_per_character", "bleu")
    }
    assert trainer.card()["data"]["pud"] == {"weight": 0.5, "licence": CORPORA["pud"].licence, "group": "sa"}
    assert "Universal Dependencies" in CORPORA["pud"].licence
    only = Trainer(tiny_run(data="pud", steps=2), tmp_path, tmp_path / "only")
    assert only.validation.run(only.averaged()) == {}
