"""The pages of a report, opened from a disk: the players of its examples, and the listening test."""

import json
import os
import pathlib
import subprocess
import tempfile
import unittest

from browser import DESKTOP, PHONE, Browser, pause
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys

SCREENSHOTS = os.environ.get("HUM_PAGE_SCREENSHOTS", ".")
# What tests/page/sample_report.cpp plays.
PITCHES = {"hum": 550, "hum, true notes": 660, "sine": 880, "hidden reference": 440, "anchor 3.5 kHz": 440,
           "anchor 7 kHz": 440}
SCORES = {"hum": 40, "hum, true notes": 60, "sine": 0, "hidden reference": 100, "anchor 3.5 kHz": 70, "anchor 7 kHz": 90}
TRIALS = 8


class Reports(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory(prefix="hum-report-")
        cls.addClassCleanup(folder.cleanup)
        cls.folder = pathlib.Path(folder.name)
        subprocess.run([os.environ["HUM_PAGE_SAMPLE_REPORT"], cls.folder / "report"], check=True)

    def browse(self, page, until, size=DESKTOP, **options):
        browser = Browser(size, screenshots=SCREENSHOTS, **options)
        self.addCleanup(browser.close)
        browser.command("Browser.setDownloadBehavior", behavior="allow", downloadPath=str(self.folder / "downloads"))
        browser.open((self.folder / "report" / page).as_uri(), until)
        return browser

    def press(self, browser, key):
        browser.driver.switch_to.active_element.send_keys(key)

    def expect_clean(self, browser, name):
        browser.keep_screenshot(name)
        self.assertEqual(browser.console_errors(), [])
        self.assertLessEqual(browser.width_of_content(), browser.size[0])
        self.assertEqual(browser.violations(), [])
        browser.console_errors()  # axe asks for style sheets, which a page from a disk may not

    # The players.

    def test_a_player_switches_at_the_same_place_and_level(self):
        browser = self.browse("index.html", ".clip.is-current")
        browser.click(".clip .play")
        browser.wait_until_heard("the first sound", 550)
        pause(0.3)  # the window of the meter
        level = browser.heard()["level"]
        before = browser.run("[Clip.current.looper.position, output.currentTime]")
        self.press(browser, "2")
        after = browser.run("[Clip.current.looper.position, output.currentTime]")
        # The loop of 2 s went on by as much as the clock did.
        self.assertAlmostEqual((after[0] - before[0] - after[1] + before[1]) % 2 % 1.999, 0, 2)
        browser.wait_until_heard("the second sound", 660)
        pause(0.3)
        self.assertAlmostEqual(browser.heard()["level"] / level, 1, 1)  # in the files, one is twice as loud
        self.press(browser, Keys.ARROW_RIGHT)
        self.press(browser, "3")
        browser.wait_until_heard("the reference", 440)
        pause(2.2)
        self.assertGreater(browser.heard()["level"], 0.005)  # it loops
        self.assertEqual(browser.find_all(".clip.is-current input:checked")[0].get_attribute("id"), "clip-0-2")
        self.press(browser, " ")
        browser.wait("silence", lambda: browser.heard()["level"] < 1e-4)

    def test_one_player_plays_at_a_time(self):
        browser = self.browse("index.html", ".clip.is-current")
        browser.click(".clip .play")
        browser.wait_until_heard("a clip", 550)
        browser.click(".clip:last-of-type .play")
        browser.wait_until_heard("the recording", 300)
        self.assertEqual(len(browser.find_all(".play.is-playing")), 1)
        self.assertTrue(browser.find(".clip:last-of-type").get_attribute("class").endswith("is-current"))

    def test_a_missing_sound_is_a_message(self):
        browser = self.browse("index.html", ".clip.is-current")
        twin = self.folder / "report/sounds/clip-1-0.js"
        aside = twin.rename(twin.with_suffix(".aside"))
        browser.click(".clip:nth-of-type(2) .play")
        fault = ".clip:nth-of-type(2) .fault"
        browser.wait("the message", lambda: "clip-1-0.js is missing" in browser.text(fault))
        aside.rename(twin)
        browser.click(".clip:nth-of-type(2) .play")
        browser.wait_until_heard("the sound", 550)
        self.assertEqual(browser.text(fault), "")

    def test_the_report_fits_phones_and_dark_rooms(self):
        self.expect_clean(self.browse("index.html", ".clip.is-current", PHONE), "31-report")
        browser = self.browse("index.html", ".clip.is-current", is_dark=True)
        browser.driver.execute_script("document.querySelector('.clip').scrollIntoView()")
        self.expect_clean(browser, "31-report-dark")

    # The listening test.

    def start(self, browser):
        browser.find("#listener").send_keys("Anna B")
        browser.click("#start-form button")
        browser.wait("the practice", lambda: browser.text("#title") == "Practice")

    def rate_all(self, browser):
        """Rates the sounds of a page with the keyboard, and hears each."""
        heard = []
        for number, root in enumerate(browser.find_all(".stimulus"), 1):
            system = root.get_attribute("data-system")
            heard.append(system)
            self.press(browser, str(number))
            slider = root.find_element(By.CSS_SELECTOR, "input")
            self.assertEqual(browser.driver.switch_to.active_element, slider)
            slider.send_keys(Keys.HOME)
            for _ in range(SCORES[system] // 10):
                slider.send_keys(Keys.PAGE_UP)
            self.assertEqual(root.find_element(By.CSS_SELECTOR, "output").text, str(SCORES[system]))
        return heard

    def test_a_person_rates_all_pages_and_saves(self):
        browser = self.browse("listening.html", "#start:not([hidden])")
        self.start(browser)
        browser.click("#next")
        orders = []
        for page in range(1, TRIALS + 1):
            self.assertEqual(browser.text("#title"), f"Page {page} of {TRIALS}")
            self.assertFalse(browser.find("#next").is_enabled())
            orders.append(self.rate_all(browser))
            self.assertEqual(browser.text("#state"), "6 of 6 rated")
            if page == 3:
                self.check_back_and_reload(browser, page)
            browser.click("#next")
        self.assertEqual(sorted(orders[0]), sorted(SCORES))
        self.assertGreater(len({tuple(order) for order in orders}), 1)
        browser.click("#save")
        browser.wait("the file", lambda: browser.text("#saved").startswith("Saved as listening-anna-b-"))
        self.assertIsNone(browser.run("localStorage.getItem(kStore)"))
        self.expect_clean(browser, "34-listening-end")
        self.check_file(browser.text("#saved").removeprefix("Saved as "), orders)

    def check_back_and_reload(self, browser, page):
        browser.click("#back")
        self.assertEqual(browser.text("#title"), f"Page {page - 1} of {TRIALS}")
        self.assertEqual(browser.text("#state"), "6 of 6 rated")
        browser.driver.refresh()
        browser.wait("the same page", lambda: browser.text("#title") == f"Page {page - 1} of {TRIALS}")
        browser.click("#next")
        self.assertEqual(browser.text("#state"), "6 of 6 rated")

    def check_file(self, name, orders):
        path = self.folder / "downloads" / name
        answers = json.loads(path.read_text())
        self.assertEqual(answers["listener"], "Anna B")
        self.assertIsInstance(answers["seed"], int)
        self.assertEqual({trial["clip"] for trial in answers["trials"]},
                         {f"clip {i}: seen, flute, ionian" for i in range(TRIALS)})
        for trial, order in zip(answers["trials"], orders):
            self.assertEqual(trial["scores"], SCORES)
            self.assertEqual(list(trial["scores"]), order)
        read = subprocess.run([os.environ["HUM_PAGE_PROGRAM"], "evaluate", "listening", path, "--json"], check=True,
                              text=True, capture_output=True)
        means = {row["system"]: row["mean"] for row in json.loads(read.stdout)["systems"]}
        self.assertEqual(means, SCORES)

    def test_whoever_moves_a_slider_hears_its_sound(self):
        browser = self.browse("listening.html", "#start:not([hidden])")
        self.start(browser)
        for system in ["sine", "hum", "hidden reference"]:
            browser.click(f".stimulus[data-system='{system}'] input")
            browser.wait_until_heard(system, PITCHES[system])
        self.press(browser, "0")
        self.assertEqual(browser.find("#reference").get_attribute("aria-pressed"), "true")
        self.assertEqual(browser.find_all(".is-heard"), [])
        self.press(browser, " ")
        browser.wait("silence", lambda: browser.heard()["level"] < 1e-4)

    def test_the_seed_decides_the_order(self):
        browser = self.browse("listening.html", "#start:not([hidden])")
        orders = [browser.run(f"JSON.stringify(orderOf({seed}))") for seed in [1, 1, 2]]
        self.assertEqual(orders[0], orders[1])
        self.assertNotEqual(orders[0], orders[2])

    def test_the_listening_test_fits_phones_and_dark_rooms(self):
        for size, options in [(PHONE, {}), (DESKTOP, {}), (DESKTOP, {"is_dark": True})]:
            browser = self.browse("listening.html", "#start:not([hidden])", size, **options)
            name = "listening-dark" if options else "listening"
            self.expect_clean(browser, f"32-{name}")
            self.start(browser)
            browser.click(".stimulus:nth-child(2) input")
            browser.wait("a sound", lambda: browser.heard()["level"] > 0.005)
            self.expect_clean(browser, f"33-{name}")
