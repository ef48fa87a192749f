"""Main clauses and subordinate clauses of different pairs make new pairs, both sides alike."""

from __future__ import annotations

from collections import Counter

import pytest

from model.text.subwords import Tokenizer
from model.training.batching import TrainingStream
from model.training.config import TrainingConfig
from model.training.data.clauses import CONJUNCTIONS, as_sentence, copular_clause, main_clause, subordinate_clause
from tests.test_model.test_training.test_batching import texts

MAINS = [("I am here.", "Ich bin hier."), ("He doesn't know Mary.", "Er kennt Maria nicht.")]
WHOLE = [
    ("I sleep because she works.", "Ich schlafe, weil sie arbeitet."),
    ("We went home, although he came.", "Wir gingen heim, obwohl er kam."),
]
REST = [
    ("Are you here?", "Bist du hier?"),  # no statement
    ("I think, he is.", "Ich denke, er ist."),  # a comma
    ("He was there when it fell.", "Er war da, als es fiel."),  # its German depends on what fell
    ("Come here if you want.", "Komm her, wenn du willst."),  # and on who is asked
    ("If he comes, I go.", "Wenn er kommt, gehe ich."),  # the main clause comes after
    ("He left because of Mary.", "Er ging wegen Maria."),  # no clause in German
    ("I waited until he came because she asked.", "Ich wartete, bis er kam, weil sie bat."),  # two of them
    ("Go away.", "Geh weg."),  # too short
]


@pytest.fixture(scope="module")
def tokenizer() -> Tokenizer:
    lines = [side for pair in MAINS + WHOLE + REST for side in pair]
    return Tokenizer.train(lines * 5, vocab_size=430)


def cut(tokenizer: Tokenizer, pair: tuple[str, str], turned: bool = False):
    pieces = tuple(tokenizer.pieces(side) for side in pair)
    return pieces[::-1] if turned else pieces


@pytest.mark.parametrize("turned", [False, True], ids=["en-de", "de-en"])
def test_what_is_a_main_clause_and_what_is_a_subordinate_clause(tokenizer, turned):
    for pair in MAINS:
        pieces = cut(tokenizer, pair, turned)
        assert main_clause(pieces) == tuple(side[:-1] for side in pieces)
        assert subordinate_clause(pieces) is None
    clauses = [
        ("▁because ▁she ▁works .", ", ▁weil ▁sie ▁arbeitet ."),
        (", ▁although ▁he ▁came .", ", ▁obwohl ▁er ▁kam ."),
    ]
    for pair, clause in zip(WHOLE, clauses, strict=True):
        assert (
            subordinate_clause(cut(tokenizer, pair, turned))
            == tuple(side.split() for side in clause)[:: 1 - 2 * turned]
        )
        assert main_clause(cut(tokenizer, pair, turned)) is None
    for pair in REST:
        assert main_clause(cut(tokenizer, pair, turned)) is None, pair
        assert subordinate_clause(cut(tokenizer, pair, turned)) is None, pair


def test_every_conjunction_is_found(tokenizer):
    for english, german in CONJUNCTIONS:
        pieces = cut(tokenizer, (f"I go {english} he comes.", f"Ich gehe, {german} er kommt."))
        assert subordinate_clause(pieces) == (pieces[0][2:], pieces[1][2:])
    wrong = cut(tokenizer, ("I go because he comes.", "Ich gehe, bis er kommt."))
    assert subordinate_clause(wrong) is None


@pytest.mark.parametrize("turned", [False, True], ids=["en-de", "de-en"])
@pytest.mark.parametrize(
    ("pair", "clause"),
    [
        (("Studying is hard.", "Lernen ist schwer."), ("because studying is hard.", "weil Lernen schwer ist.")),
        (
            ("The dogs were very tired.", "Die Hunde waren sehr müde."),
            ("because the dogs were very tired.", "weil die Hunde sehr müde waren."),
        ),
    ],
)
def test_a_statement_with_a_copula_becomes_a_clause_whose_verb_stands_last_in_german(tokenizer, pair, clause, turned):
    expected = (tokenizer.pieces(clause[0]), [",", *tokenizer.pieces(clause[1])])
    subordinate = copular_clause(cut(tokenizer, pair, turned))
    assert subordinate == (expected[::-1] if turned else expected)
    sentence = cut(tokenizer, (clause[0].capitalize(), clause[1][0].upper() + clause[1][1:]), turned)
    assert as_sentence(subordinate) == sentence


@pytest.mark.parametrize(
    "pair",
    [
        ("He is here.", "Hier ist er."),  # the subject comes last
        ("He is a good man.", "Er ist ein guter Mann."),  # more than an adjective
        ("Everything is ready.", "Alles ist fertig."),  # no noun: "Alles" would keep its capital letter
        ("Today is cold.", "Heute ist kalt."),
        ("It is very late.", "Es ist sehr spät."),  # its gender depends on what came before
        ("He was here.", "Er ist hier."),
        ("Is he very tired?", "Ist er sehr müde?"),
        ("What he said is true.", "Was er sagte ist wahr."),
    ],
)
def test_statements_whose_german_order_is_not_certain_are_left_out(tokenizer, pair):
    assert copular_clause(cut(tokenizer, pair)) is None
    assert copular_clause(cut(tokenizer, pair, turned=True)) is None


def test_recombined_pairs_are_a_main_clause_and_a_clause_of_another_pair_on_both_sides(tokenizer):
    def count_pairs(rate: float) -> Counter:
        corpora = [(MAINS * 50 + WHOLE + REST, 1.0)]
        config = TrainingConfig(clause_rate=rate, batch_tokens=400, max_length=60)
        return texts(tokenizer, TrainingStream(corpora, tokenizer, config).epoch(0))

    usual = Counter(MAINS * 50 + WHOLE + REST)
    assert count_pairs(0) == usual
    often = count_pairs(0.5)
    combinations = {
        (f"{main[0][:-1]}{clause[0]}", f"{main[1][:-1]}{clause[1]}")
        for main in MAINS
        for clause in [(" because she works.", ", weil sie arbeitet."), (", although he came.", ", obwohl er kam.")]
    }
    assert set(often) == set(usual) | combinations
    assert often.total() == usual.total()
    assert 30 < sum(often[pair] for pair in combinations) < 70


def test_where_no_pair_has_a_subordinate_clause_nothing_changes(tokenizer):
    config = TrainingConfig(clause_rate=0.99, batch_tokens=400, max_length=60)
    batches = TrainingStream([(MAINS, 1.0)], tokenizer, config).epoch(0)
    assert texts(tokenizer, batches) == Counter(MAINS)
