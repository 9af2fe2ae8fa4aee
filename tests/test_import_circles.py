"""No modules import each other in a circle; imports for types and inside functions count too."""

from graphlib import TopologicalSorter

import grimp


def test_imports_have_an_order() -> None:
    graph = grimp.build_graph("subtitle_rag", cache_dir=None)
    imports = {module: graph.find_modules_directly_imported_by(module) for module in graph.modules}

    assert any(imports.values())
    TopologicalSorter(imports).prepare()
