# SPDX-License-Identifier: Apache-2.0
"""Run the notebooks of the tutorials anew, each in an empty folder, and keep what they show."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

import nbformat
from nbclient import NotebookClient

FOLDER = Path(__file__).with_name("tutorials")


def run(path: Path) -> None:
    """Run one notebook and write it back, without times and names of this machine."""
    notebook = nbformat.read(path, as_version=4)
    with tempfile.TemporaryDirectory() as folder:
        client = NotebookClient(notebook, kernel_name="python3", resources={"metadata": {"path": folder}})
        client.execute()
    notebook.metadata = {"kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"}}
    for cell in notebook.cells:
        cell.metadata = {}
        for output in cell.get("outputs", []):
            if "text/html" in output.get("data", {}):
                output.data.pop("text/plain", None)
    nbformat.write(notebook, path)


if __name__ == "__main__":
    for notebook in sys.argv[1:] or sorted(map(str, FOLDER.glob("*.ipynb"))):
        run(Path(notebook))
