"""Chromium with a fake microphone, and what the tests ask of it."""

import json
import math
import os
import pathlib
import time

from selenium import webdriver
from selenium.webdriver.chrome.service import Service as DriverService
from selenium.webdriver.common.by import By
from selenium.webdriver.support.ui import WebDriverWait

HERE = pathlib.Path(__file__).resolve().parent
HUM = HERE.parents[1] / "examples" / "vocadito_10.wav"
CHROMIUM, DRIVER = "/usr/bin/chromium", "/usr/bin/chromedriver"
PHONE, DESKTOP = (360, 740), (1280, 900)
WAIT_S = 120
# Chromium reports each answer that is an error; tests of errors expect these.
ANSWER = "Failed to load resource"


class Browser:
    def __init__(self, size=DESKTOP, microphone=True, is_dark=False, screenshots="."):
        options = webdriver.ChromeOptions()
        options.binary_location = CHROMIUM
        for argument in ["--headless=new", "--no-sandbox", "--disable-dev-shm-usage", "--disable-gpu", "--no-first-run",
                         "--disable-background-networking", "--disable-component-update",
                         "--use-fake-device-for-media-stream"]:
            options.add_argument(argument)
        if microphone:
            options.add_argument("--use-fake-ui-for-media-stream")
            options.add_argument(f"--use-file-for-fake-audio-capture={HUM}")
        options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
        self.driver = webdriver.Chrome(options=options, service=DriverService(DRIVER))
        self.driver.set_script_timeout(WAIT_S)
        self.size, self.screenshots, self.clicks = size, pathlib.Path(screenshots), 0
        self.command("Page.addScriptToEvaluateOnNewDocument", source=(HERE / "taps.js").read_text())
        self.command("Emulation.setDeviceMetricsOverride", width=size[0], height=size[1],
                     deviceScaleFactor=2 if size == PHONE else 1, mobile=size == PHONE)
        if size == PHONE:
            self.command("Emulation.setTouchEmulationEnabled", enabled=True)
        if is_dark:
            self.command("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": "dark"}])
        if not microphone:
            self.command("Browser.setPermission", permission={"name": "microphone"}, setting="denied")

    def start(self, url, until="#gallery .tile"):
        """Opens the page as somebody who has never been there."""
        self.driver.get("about:blank")
        self.command("Storage.clearDataForOrigin", origin=url.rstrip("/"), storageTypes="all")
        self.open(url, until)
        self.driver.get_log("browser")
        self.clicks = 0

    def command(self, name, **values):
        return self.driver.execute_cdp_cmd(name, values)

    def open(self, url, until="#gallery .tile"):
        self.driver.get(url)
        self.wait(until, lambda: self.find_all(until))

    def close(self):
        self.driver.quit()

    def find(self, selector):
        return self.driver.find_element(By.CSS_SELECTOR, selector)

    def find_all(self, selector):
        return self.driver.find_elements(By.CSS_SELECTOR, selector)

    def text(self, selector):
        return self.find(selector).text

    def run(self, script, *values):
        """The value of an expression, or of the promise that it is."""
        answer = self.driver.execute_async_script(
            "const done = arguments[arguments.length - 1];"
            f"(async () => ({script}))().then((value) => done({{value}}), (fault) => done({{fault: String(fault)}}));",
            *values)
        if "fault" in answer:
            raise RuntimeError(f"{script}: {answer['fault']}")
        return answer.get("value")

    def click(self, selector):
        """A click as a person makes it: on what is visible, and counted."""
        target = self.find(selector)
        self.driver.execute_script("arguments[0].scrollIntoView({block: 'center'})", target)
        target.click()
        self.clicks += 1

    def wait(self, what, condition, timeout_s=WAIT_S):
        def met(_):
            if self.find_all(".problem") and what != "a problem":
                raise AssertionError(f"while waiting for {what}: {self.text('#problems')}")
            return condition()
        return WebDriverWait(self.driver, timeout_s, poll_frequency=0.05).until(met, f"waited {timeout_s} s for {what}")

    def problem(self):
        self.wait("a problem", lambda: self.find_all(".problem"))
        return self.text("#problems")

    def close_problem(self):
        self.find("#problems [aria-label='Close this message']").click()

    def choose_file(self, path, field="#file"):
        self.find(field).send_keys(os.fspath(path))

    def wait_for_notes(self):
        self.wait("notes", lambda: self.find_all("#roll .note"))
        return self.notes()

    def notes(self):
        return self.run("import('/page/state.js').then((state) => state.get('melody').notes)")

    def job(self):
        return self.run("import('/page/state.js').then((state) => state.get('job'))")

    def take_rows(self):
        """The takes that are complete, newest first."""
        return self.find_all("#takes > .take:has(a[download])")

    def heard(self):
        return self.run("window.heardNow()")

    def wait_until_take_heard(self):
        """Waits until the sound of a take plays, while it is made or later."""
        selected = "import('/page/player.js').then(({player}) => player.selected.join())"
        self.wait("the take to play", lambda: "/take-1" in self.run(selected) and self.heard()["level"] > 0.005)

    def wait_until_heard(self, what, hz=None):
        """Waits for sound, with this pitch within half a semitone if it is given."""
        def is_heard():
            heard = self.heard()
            near = hz is None or (heard["hz"] > 0 and abs(12 * math.log2(heard["hz"] / hz)) < 0.5)
            return heard["level"] > 0.005 and near
        self.wait(what, is_heard, 30)

    def keep_screenshot(self, name):
        self.screenshots.mkdir(parents=True, exist_ok=True)
        self.driver.save_screenshot(str(self.screenshots / f"{name}-{self.size[0]}.png"))

    def console_errors(self, answers_expected=False):
        entries = [entry for entry in self.driver.get_log("browser") if entry["level"] == "SEVERE"]
        return [entry["message"] for entry in entries if not (answers_expected and ANSWER in entry["message"])]

    def violations(self):
        """What axe-core finds against WCAG 2 levels A and AA, a line each."""
        from axe_selenium_python import Axe
        axe = Axe(self.driver)
        axe.inject()
        found = axe.run(options={"runOnly": {"type": "tag", "values": ["wcag2a", "wcag2aa"]}})
        return [f"{rule['id']}: {rule['help']}: {json.dumps(node['target'])} {node.get('failureSummary', '')}"
                for rule in found["violations"] for node in rule["nodes"]]

    def width_of_content(self):
        return self.run("document.documentElement.scrollWidth")


def hz_of(pitch):
    return 440 * 2 ** ((pitch - 69) / 12)


def pause(seconds):
    time.sleep(seconds)
