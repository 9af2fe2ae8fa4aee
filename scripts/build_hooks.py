"""The hooks of hatchling: the project's addresses, and the compiled Korean catalogue that a wheel carries."""

import runpy
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
    """Puts the project's home, which `pyproject.toml` names once, into its addresses and the links of its README."""

    def update(self, metadata: dict[str, Any]) -> None:
        """Fill in what `dynamic` in `pyproject.toml` announces."""
        home = self.config["home"]
        metadata["urls"] = {name: home + page for name, page in PAGES.items()}
        metadata["readme"]["text"] = metadata["readme"]["text"].replace("(HOME/", f"({home}/")


class CatalogBuildHook(BuildHookInterface):  # type: ignore[type-arg, misc, unused-ignore]
    """Makes each `.mo` that `artifacts` in `pyproject.toml` names."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:  # noqa: ARG002 - hatchling's signature
        """Compile the catalogues beside their sources."""
        package = Path(self.root) / "subtitle_rag"
        compile_changed = runpy.run_path(str(package / "message_catalog.py"))["compile_changed"]
        for po in package.glob("locale/*/LC_MESSAGES/*.po"):
            if compile_changed(po):
                raise OSError(f"{po.with_suffix('.mo')} cannot be written")
