"""A service with keys: the page asks for one, and works with it as without."""

import os
import subprocess
import tempfile

from browser import HUM, PHONE
from page_case import PageCase
from service import Service


class Sessions(PageCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory(prefix="hum-keys-")
        cls.addClassCleanup(folder.cleanup)
        cls.keys = f"{folder.name}/keys.txt"
        cls.program = os.environ["HUM_PAGE_PROGRAM"]
        cls.token = cls.new_token()
        cls.service = Service(cls.program, flags=["--keys", cls.keys])
        cls.addClassCleanup(cls.service.close)
        cls.browsers = {}

    @classmethod
    def new_token(cls):
        return subprocess.run([cls.program, "serve", "add-key", "anna", "--keys", cls.keys], check=True, text=True,
                              capture_output=True).stdout.strip()

    def log_in(self, browser, token):
        field = browser.find("#login-token")
        field.clear()
        field.send_keys(token)
        browser.find("#login-form button").click()

    def wait_for_page(self, browser):
        browser.wait("the instruments", lambda: browser.find_all("#gallery .tile"))
        self.assertFalse(browser.find("#login").is_displayed())

    def test_a_key_opens_the_page(self):
        browser = self.browse(PHONE, until="#login[open]")
        self.expect_clean(browser, "21-login")
        self.log_in(browser, "hum_wrong")
        browser.wait("the refusal", lambda: "does not know" in browser.text("#login-fault"))
        browser.console_errors()  # the refused key is one
        self.log_in(browser, self.token)
        self.wait_for_page(browser)
        browser.choose_file(HUM)
        browser.wait_for_notes()
        self.assertEqual(browser.console_errors(), [])
        browser.open(self.service.url + "/")  # the cookie is enough
        self.assertEqual(browser.run("document.cookie"), "")
        browser.click("#log-out")
        browser.wait("the question", lambda: browser.find("#login").is_displayed())

    def test_a_key_that_ends_is_asked_for_again(self):
        browser = self.browse(until="#login[open]")
        self.log_in(browser, self.token)
        self.wait_for_page(browser)
        subprocess.run([self.program, "serve", "remove-key", "anna", "--keys", self.keys], check=True)
        type(self).token = self.new_token()
        browser.choose_file(HUM)
        browser.wait("the question", lambda: browser.find("#login").is_displayed())
        self.log_in(browser, self.token)
        browser.wait_for_notes()
