"""What all tests of the page share: one service for a class of tests, a page without memory for each test."""

import os
import unittest

from browser import DESKTOP, Browser
from service import Service

SCREENSHOTS = os.environ.get("HUM_PAGE_SCREENSHOTS", ".")


class PageCase(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.service = Service(os.environ["HUM_PAGE_PROGRAM"])
        cls.addClassCleanup(cls.service.close)
        cls.browsers = {}

    def browse(self, size=DESKTOP, until="#gallery .tile", **options):
        """A fresh page that shows `until`. Browsers of one kind are started once: that takes longer than most tests."""
        kind = (size, *sorted(options.items()))
        if kind not in self.browsers:
            self.browsers[kind] = Browser(size, screenshots=SCREENSHOTS, **options)
            self.addClassCleanup(self.browsers[kind].close)
        self.browsers[kind].start(self.service.url + "/", until)
        return self.browsers[kind]

    def expect_clean(self, browser, name, answers_expected=False):
        """No violation, nothing wider than the screen, no console error; keeps a screenshot."""
        browser.keep_screenshot(name)
        self.assertEqual(browser.violations(), [])
        self.assertLessEqual(browser.width_of_content(), browser.size[0])
        self.assertEqual(browser.console_errors(answers_expected), [])
