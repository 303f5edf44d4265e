# SPDX-License-Identifier: Apache-2.0
"""What a job carries from a web process to a worker, and what it ends in, as plain data.

| kind | payload | result if done |
|---|---|---|
| ask | `query`, `repeat` | `answer`, `content` |
| rehearse | `query`, `rows`, `seed` | `answer` |
| grant | `analyst`, `limit` (nano-ε or null), `terms`, `reason` | `grant` |
| revoke | `analyst`, `reason` | `grant` |
| raise | `to` (nano-ε), `reason` | `account` |
| pause, resume | `reason` | `account` |
| amend | `declaration`, `replaces` (an entry), `reason`, `learned_from_rows` | always `proposal` |
| key | `person`, `role`, `label`, `expires_in_days` (or null) | `id`, `expires_at`, `text` |
| revoke-key | `id` | `id` |
| login | `token`, `nonce`, `opener` (a public key) | `id`, `expires_at`, `sealed`, `public` |
| log-out | | `ended` |

Where what loosens waits for the host (`proposals.py`), such a job ends in `proposal`, its `number` and
what it `says`.

`answer` is what an analyst may see of it (`shown.py`), with its `value` if that is at most `LARGEST_VALUE`
bytes of JSON, the question's own fields but those about a person as `query`, and `again` if it had been
charged to the same person before. A rehearsal has its value as a store would keep it in `bytes`, in base64,
if that is as small. `content` is `{"media_type", "digest", "size"}` of the file in the outbox. A job that was
refused has `{"problem": AnonymalyError.to_dict()}`; one that failed has `{}`, whatever happened.
"""

from __future__ import annotations

from pathlib import Path

LARGEST_VALUE = 2**20
SUFFIX = ".answer"


def outbox_file(outbox: Path, job: str) -> Path:
    """Return where a worker leaves the stored bytes of a job's answer."""
    return outbox / f"{job}{SUFFIX}"
