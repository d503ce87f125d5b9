"""`make affected` chooses the tests nearest to what changed."""

from tests.affected import files, importers, nearest


def test_a_test_of_the_same_name_comes_first_and_importers_by_their_distance() -> None:
    found = nearest(["runtime/_jit/guards.py"])
    assert next(iter(found)) == "tests/jit/test_guards.py"
    assert [*found.values()] == sorted(found.values())
    assert max(found.values()) > 1


def test_a_changed_test_and_those_that_import_a_changed_helper_are_chosen() -> None:
    assert nearest(["tests/test_words.py"])["tests/test_words.py"] == 0
    found = nearest(["tests/helpers/meshes.py"])
    assert found and set(found) <= set(files())
    assert {p for p, distance in found.items() if distance == 1} <= importers()["tests/helpers/meshes.py"]


def test_relative_imports_and_the_folders_of_packages_are_followed() -> None:
    assert "runtime/dispatch/dispatcher.py" in importers()["runtime/dispatch/encode.py"]
    assert "tests/kernels/test_numerics.py" in importers()["tests/coverage/ulp.py"]
