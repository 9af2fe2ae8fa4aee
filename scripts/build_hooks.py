"""Hatchling's hooks: the project's addresses, and the compiled Korean catalogue in the wheel."""

import runpy
import sys
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface
from hatchling.metadata.plugin.interface import MetadataHookInterface

PAGES = {
    "Source": "",
    "Issues": "/issues",
    "Changelog": "/blob/main/CHANGELOG.md",
    "Documentation": "/tree/main/docs",
}


class AddressesHook(MetadataHookInterface):  # type: ignore[misc, unused-ignore]
    """Inserts the project's home page, named once in `pyproject.toml`, into its addresses and the README's links."""

    def update(self, metadata: dict[str, Any]) -> None:
        """Fill in the `dynamic` fields of `pyproject.toml`."""
        if sys.version_info < (3, 11):  # noqa: UP036 - pip 23.0 complains of the first dependency that needs it
            raise SystemExit(f"subtitle-rag needs Python 3.11 or newer; this is {sys.version.split()[0]}.")
        home = self.config["home"]
        metadata["urls"] = {name: home + page for name, page in PAGES.items()}
        metadata["readme"]["text"] = metadata["readme"]["text"].replace("(HOME/", f"({home}/")


class CatalogBuildHook(BuildHookInterface):  # type: ignore[type-arg, misc, unused-ignore]
    """Makes each `.mo` file named by `artifacts` in `pyproject.toml`."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:  # noqa: ARG002 - hatchling's signature
        """Compile the catalogues next to their sources."""
        package = Path(self.root) / "subtitle_rag"
        compile_changed = runpy.run_path(str(package / "base" / "message_catalog.py"))["compile_changed"]
        for po in package.glob("locale/*/LC_MESSAGES/*.po"):
            if compile_changed(po):
                raise OSError(f"{po.with_suffix('.mo')} cannot be written")
