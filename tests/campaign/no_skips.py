"""pytest plugin of scripts/campaign: a test that is skipped there has failed.

A skip says that something is missing, and a campaign is to prove, not to pass over. What remains is the user who may
write everywhere, which no test can take away, and the real captions, which the project has not.
"""

from collections.abc import Generator

import pytest

PERMITTED = ("root may", "no real data")
"""How the reasons of skips begin that stay ones."""


def _reason(report: pytest.TestReport | pytest.CollectReport) -> str:
    place = report.longrepr
    return str(place[2]) if isinstance(place, tuple) else str(place)


def _fail(report: pytest.TestReport | pytest.CollectReport) -> None:
    reason = _reason(report).removeprefix("Skipped: ")
    if report.skipped and not hasattr(report, "wasxfail") and not reason.startswith(PERMITTED):
        report.outcome = "failed"
        report.longrepr = f"In a campaign nothing is skipped: {reason}"


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_makereport() -> Generator[None, pytest.TestReport, pytest.TestReport]:
    report = yield
    _fail(report)
    return report


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_make_collect_report() -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
    report = yield
    _fail(report)
    return report
