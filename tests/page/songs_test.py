"""A song on the page: its stems, their faders, and a remix. The vocals are those of a tiny, untrained model."""

import os
import pathlib
import subprocess
import tempfile

from browser import DESKTOP, PHONE
from page_case import PageCase
from service import Service

STEMS = ["drums", "bass", "vocals", "lead", "chordal", "other"]
SONG = pathlib.Path(__file__).resolve().parents[2] / "examples" / "vocadito_10.wav"


class Songs(PageCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory(prefix="hum-wheels-")
        cls.addClassCleanup(folder.cleanup)
        subprocess.run([os.environ["HUM_PAGE_TINY_SPLEETER"], f"{folder.name}/spleeter"], check=True)
        cls.environment = {"HUM_THIRD_PARTY": folder.name}
        cls.service = Service(os.environ["HUM_PAGE_PROGRAM"], environment=cls.environment)
        cls.addClassCleanup(cls.service.close)
        cls.browsers = {}

    def open_panel(self, browser):
        browser.wait("the panel", lambda: browser.find("#song-panel").is_displayed())
        browser.click("#song-panel summary")

    def separate(self, browser):
        self.open_panel(browser)
        browser.choose_file(SONG, "#song")
        self.wait_for_stems(browser)

    def wait_for_stems(self, browser):
        browser.wait("the stems", lambda: len(browser.find_all("#song-stems .part")) == len(STEMS))

    def levels(self, browser):
        return browser.run(
            "import('/page/player.js').then(({player}) => [player.isPlaying, player.selected.map((id) => id.split('/')[2])])")

    def test_a_song_becomes_stems_that_are_mixed(self):
        browser = self.browse(DESKTOP)
        self.separate(browser)
        self.assertEqual(browser.text("#song-name"), SONG.name)
        self.assertEqual([label.text for label in browser.find_all("#song-stems label")], [stem.title() for stem in STEMS])
        browser.click("[aria-label='Play the mix']")
        browser.wait_until_heard("the mix")
        self.assertEqual(self.levels(browser), [True, STEMS])
        for stem in STEMS:
            browser.click(f"[aria-label='Mute {stem.title()}']")
        browser.wait("silence", lambda: browser.heard()["level"] < 1e-4)
        browser.click("[aria-label='Solo Vocals']")
        browser.wait_until_heard("the vocals alone")
        browser.click("[aria-label='Play the mix']")
        self.assertFalse(self.levels(browser)[0])
        self.expect_clean(browser, "song")

    def test_a_song_alone_has_the_player(self):
        browser = self.browse(PHONE)
        self.separate(browser)
        self.assertFalse(browser.find("#dock").is_displayed())
        browser.click("[aria-label='Play the mix']")
        browser.wait_until_heard("the mix")
        self.assertTrue(browser.find("#position").is_displayed())
        self.assertFalse(browser.find("#make").is_displayed())
        self.assertRegex(browser.text("#clock"), "/ 0:09$")
        browser.click("#play")
        self.assertFalse(self.levels(browser)[0])
        self.expect_clean(browser, "song-player")

    def test_a_dragged_fader_loads_each_stem_once_and_plays_nothing(self):
        browser = self.browse(DESKTOP)
        self.separate(browser)
        browser.run("""
            (async () => {
              const {fetch} = window;
              window.loads = [];
              window.fetch = (path, ...more) => {
                if (path.includes('/results/')) window.loads.push(path.split('/').pop());
                return fetch(path, ...more);
              };
              const fader = document.querySelector('#song-stems .part input');
              for (let i = 0; i < 20; ++i) {
                fader.value = i / 20;
                fader.dispatchEvent(new Event('input'));
              }
            })()""")
        browser.wait("the stems in the player", lambda: self.levels(browser)[1] == STEMS)
        self.assertFalse(self.levels(browser)[0])
        self.assertEqual(browser.run("window.loads"), [f"{stem}.flac" for stem in STEMS])
        browser.click("[aria-label='Play the mix']")
        browser.wait_until_heard("the mix")
        self.assertEqual(len(browser.run("window.loads")), len(STEMS))
        self.assertEqual(browser.console_errors(), [])

    def test_an_instrument_plays_a_stem(self):
        browser = self.browse(PHONE)
        self.separate(browser)
        self.assertEqual([button.text for button in browser.find_all("#song-stems [data-stem]")], ["Play on violin"] * 5)
        browser.click("label[for=preset-flute]")
        self.assertEqual(browser.text("[data-stem=vocals]"), "Play on flute")
        browser.click("[data-stem=vocals]")
        browser.wait("the remix", lambda: browser.find_all("#remixes .take"))
        self.assertIn("Vocals on flute", browser.text("#remixes .take"))
        browser.click("#remixes [data-sound]")
        browser.wait_until_heard("the remix")
        self.expect_clean(browser, "song-remix")
        tasks = [job["task"] for job in self.service.call("GET", "/v1/jobs?limit=2")[1]["jobs"]]
        self.assertEqual(tasks, ["remix", "separate"])
        browser.click("[data-stem=vocals]")
        browser.wait("another remix", lambda: len(browser.find_all("#remixes .take")) == 2)
        self.assertIn("Vocals on flute 2", browser.text("#remixes .take"))

    def test_a_song_that_is_being_sent_can_be_cancelled(self):
        browser = self.browse(PHONE)
        self.open_panel(browser)
        browser.run("""
            (async () => {
              const {send} = XMLHttpRequest.prototype;
              XMLHttpRequest.prototype.send = function() {};  // it takes for ever
              XMLHttpRequest.prototype.abort = function() {
                window.isAborted = true;
                XMLHttpRequest.prototype.send = send;
              };
            })()""")
        browser.choose_file(SONG, "#song")
        browser.wait("the sending", lambda: "Sending" in browser.text("#song-state"))
        browser.click("#song-cancel")
        self.assertFalse(browser.find("#song-progress").is_displayed())
        self.assertTrue(browser.find("#song").is_enabled())
        self.assertTrue(browser.run("window.isAborted"))
        browser.choose_file(SONG, "#song")
        self.wait_for_stems(browser)
        self.assertEqual(browser.console_errors(), [])

    def test_a_song_that_waits_can_be_cancelled(self):
        self.service = Service(os.environ["HUM_PAGE_PROGRAM"], workers=0, environment=self.environment)
        self.addCleanup(self.service.close)
        browser = self.browse(PHONE)
        self.open_panel(browser)
        browser.choose_file(SONG, "#song")
        browser.wait("the queue", lambda: "Waiting" in browser.text("#song-state"))
        browser.click("#song-cancel")
        browser.wait("the end", lambda: not browser.find("#song-progress").is_displayed())
        browser.wait("the service to forget it", lambda: self.service.call("GET", "/v1/jobs")[1]["jobs"] == [], 30)
        self.assertEqual(browser.console_errors(), [])

    def test_what_is_no_song_is_explained(self):
        browser = self.browse(PHONE)
        self.open_panel(browser)
        browser.choose_file(__file__, "#song")
        self.assertIn("songs_test.py cannot be separated", browser.problem())
        self.assertFalse(browser.find("#song-progress").is_displayed())
        self.assertEqual(browser.find_all("#song-stems .part"), [])
