"""From a hum to a sound, as a person does it, at the width of a phone and of a desktop."""

import base64
import io
import urllib.request
import wave
import zipfile

from browser import DESKTOP, HUM, PHONE, pause
from page_case import PageCase

RECORDED_S = 8
MOST_CLICKS = 4
KEPT_JOBS = "import('/page/database.js').then(({listTakes}) => listTakes()).then(([take]) => take.jobs.length)"
LEAST_NOTES = 6  # of the 16 in the recording: the fake microphone starts anywhere in it


class Journeys(PageCase):
    def record(self, browser):
        browser.click("#record")
        browser.wait("the recording", lambda: "is-recording" in browser.find("body").get_attribute("class"))
        pause(RECORDED_S)

    def wait_for_take(self, browser, count=1):
        browser.wait("the sound", lambda: len(browser.take_rows()) >= count)

    def test_a_hum_becomes_a_flute_on_a_phone(self):
        self.check_hum_becomes_flute(PHONE)

    def test_a_hum_becomes_a_flute_on_a_desktop(self):
        self.check_hum_becomes_flute(DESKTOP)

    def check_hum_becomes_flute(self, size):
        browser = self.browse(size)
        self.expect_clean(browser, "1-start")
        self.record(browser)
        self.expect_clean(browser, "2-recording")
        browser.click("#record")
        self.assertGreaterEqual(len(browser.wait_for_notes()), LEAST_NOTES)
        browser.wait_until_heard("the notes")  # without a click
        self.expect_clean(browser, "3-notes")
        browser.click("label[for=preset-flute]")
        self.assertEqual(browser.text("#make"), "Play on flute")
        browser.click("#make")
        self.wait_for_take(browser)
        self.assertLessEqual(browser.clicks, MOST_CLICKS)
        self.expect_clean(browser, "4-flute")
        self.check_playing(browser)
        self.check_downloads(browser)

    def check_playing(self, browser):
        if browser.find("#play").get_attribute("aria-label") == "Pause":
            browser.click("#play")
        browser.click("#takes .round")
        browser.wait_until_heard("the flute")
        browser.click("#play")

    def check_downloads(self, browser):
        links = {link.text: link.get_attribute("href") for link in browser.take_rows()[0].find_elements("css selector", "a")}
        self.assertEqual(list(links), ["WAV", "FLAC", "MP3", "MIDI", "All (zip)"])
        bodies = {name: urllib.request.urlopen(url, timeout=60).read() for name, url in links.items()}
        with wave.open(io.BytesIO(bodies["WAV"])) as sound:
            self.assertGreater(sound.getnframes() / sound.getframerate(), RECORDED_S * 0.7)
        self.assertEqual(bodies["FLAC"][:4], b"fLaC")
        self.assertGreater(len(bodies["MP3"]), 20_000)
        self.assertEqual(bodies["MIDI"][:4], b"MThd")
        with zipfile.ZipFile(io.BytesIO(bodies["All (zip)"])) as packed:
            self.assertIsNone(packed.testzip())
            self.assertTrue(any(name.endswith(".wav") for name in packed.namelist()))

    def test_a_take_is_heard_while_it_is_made(self):
        browser = self.browse()
        browser.choose_file(HUM)
        browser.wait_for_notes()
        browser.run("import('/page/player.js').then(({player}) => player.pause())")
        # What counts is that the sound comes before the results: four varied takes last for seconds.
        browser.find("#sound summary").click()
        browser.click("#option-lm")
        browser.find("#option-takes option[value='4']").click()
        browser.click("#make")
        browser.wait("the sound to begin", lambda: browser.find_all("#takes .take"))
        self.assertEqual(browser.take_rows(), [])
        browser.wait_until_heard("the sound while it is made")
        self.wait_for_take(browser)
        self.assertEqual(browser.console_errors(), [])

    def test_a_dropped_file_becomes_notes(self):
        browser = self.browse(DESKTOP)
        browser.driver.execute_script(
            """
            const data = new DataTransfer();
            data.items.add(new File([Uint8Array.from(atob(arguments[0]), (letter) => letter.charCodeAt(0))], 'my hum.wav'));
            for (const type of ['dragenter', 'dragover', 'drop']) {
              document.body.dispatchEvent(new DragEvent(type, {dataTransfer: data, bubbles: true, cancelable: true}));
            }
            """, base64.b64encode(HUM.read_bytes()).decode())
        self.assertGreater(len(browser.wait_for_notes()), LEAST_NOTES)
        browser.wait("its name", lambda: browser.text("#hum-state") == "my hum.wav, 0:09")
        self.assertEqual(browser.console_errors(), [])

    def test_takes_are_compared_at_the_same_place(self):
        browser = self.browse(DESKTOP)
        browser.choose_file(HUM)
        browser.wait_for_notes()
        browser.find("#sound summary").click()
        browser.click("#option-lm")
        browser.find("#option-takes option[value='2']").click()
        browser.click("#make")
        self.wait_for_take(browser, 2)
        labels = [label.text for label in browser.find_all("#sources label")]
        self.assertEqual(labels, ["Hum", "Notes", "Violin, take 1", "Violin, take 2"])
        browser.run("import('/page/player.js').then(({player}) => player.play(2))")
        for source in browser.find_all("#sources label"):
            source.click()
            browser.wait_until_heard(source.text)
        position = browser.run("import('/page/player.js').then(({player}) => player.position)")
        self.assertGreater(position, 2)
        self.assertEqual(browser.console_errors(), [])

    def test_a_preset_is_heard_by_a_click(self):
        browser = self.browse(PHONE)
        browser.click("[aria-label='Hear Trumpet']")
        browser.wait_until_heard("the trumpet")
        self.assertEqual(browser.console_errors(), [])

    def test_a_backing_track_plays_along(self):
        browser = self.browse(DESKTOP)
        browser.choose_file(HUM)
        browser.wait_for_notes()
        browser.run("import('/page/player.js').then(({player}) => player.pause())")
        browser.find("#backing-panel summary").click()
        browser.choose_file(HUM, "#backing")
        browser.wait("the backing", lambda: browser.find("#backing-on").is_displayed())
        browser.run("import('/page/player.js').then(({player}) => {player.mix({notes: 0}); player.play(1);})")
        browser.wait_until_heard("the backing alone")
        self.expect_clean(browser, "5-backing")
        browser.click("#backing-mixed")
        browser.click("#make")
        self.wait_for_take(browser)
        self.assertEqual(browser.console_errors(), [])
        self.assertEqual(self.newest_job()["options"]["preset"], "violin")

    def newest_job(self):
        return self.service.call("GET", self.service.call("GET", "/v1/jobs?limit=1")[1]["jobs"][0]["links"]["self"])[1]

    def test_a_clip_is_an_instrument(self):
        browser = self.browse(PHONE)
        browser.choose_file(HUM, "#clip")
        browser.choose_file(HUM)
        browser.wait_for_notes()
        self.assertEqual(browser.text("#make"), "Play on your sound")
        browser.click("#make")
        self.wait_for_take(browser)
        self.assertEqual(self.newest_job()["options"]["preset"], "")
        self.assertEqual(browser.console_errors(), [])

    def test_a_band_has_faders(self):
        browser = self.browse(PHONE)
        browser.choose_file(HUM)
        browser.wait_for_notes()
        browser.click("#score summary")
        browser.find("#option-tempo option[value='number']").click()
        browser.click("label[for=band-on]")
        browser.click("#make")
        self.wait_for_take(browser)
        self.assertEqual([label.text for label in browser.find_all(".part label")], ["Lead", "Bass", "Chords", "Drums"])
        browser.click("[aria-label='Solo Bass']")
        count = "import('/page/player.js').then(({player}) => player.selected.length)"
        browser.wait("the parts", lambda: browser.run(count) == 4)
        browser.wait_until_heard("the bass")
        self.expect_clean(browser, "14-band")

    def test_a_take_is_found_again_in_the_history(self):
        browser = self.browse(PHONE)
        browser.choose_file(HUM)
        notes = browser.wait_for_notes()
        browser.click("#make")
        self.wait_for_take(browser)
        browser.open(self.service.url + "/")
        browser.click("#history-open")
        self.expect_clean(browser, "6-history")
        browser.click("#history-list .row")
        self.assertEqual(browser.wait_for_notes(), notes)
        self.wait_for_take(browser)
        self.assertEqual(browser.console_errors(), [])

    def test_a_page_that_is_reloaded_finds_the_job_that_still_runs(self):
        browser = self.browse(PHONE)
        browser.choose_file(HUM)
        browser.wait_for_notes()
        browser.click("#make")
        browser.wait("the job in the browser's database", lambda: browser.run(KEPT_JOBS) == 1)
        browser.open(self.service.url + "/")
        browser.click("#history-open")
        browser.click("#history-list .row")
        self.wait_for_take(browser)
        self.assertEqual(len(browser.take_rows()), 1)
        self.assertEqual(browser.console_errors(), [])

    def test_dark_colours_are_readable(self):
        browser = self.browse(PHONE, is_dark=True)
        browser.choose_file(HUM)
        browser.wait_for_notes()
        browser.click("#make")
        self.wait_for_take(browser)
        browser.run("document.querySelectorAll('details').forEach((panel) => (panel.open = true))")
        self.expect_clean(browser, "7-dark")
