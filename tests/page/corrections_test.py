"""Notes are corrected with keys, buttons and the pointer, and what is corrected is heard."""

import math

from browser import DESKTOP, HUM, PHONE, hz_of, pause
from page_case import PageCase
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.keys import Keys


class Corrections(PageCase):
    def open_notes(self, size=DESKTOP):
        browser = self.browse(size)
        browser.choose_file(HUM)
        browser.wait_for_notes()
        browser.wait("the notes to play", lambda: browser.find("#play").get_attribute("aria-label") == "Pause")
        browser.find("#play").click()
        pause(0.2)
        return browser, browser.notes()

    def focus(self, browser, index):
        browser.run("document.querySelectorAll('#roll .note')[arguments[0]].focus()", index)

    def press(self, browser, *keys):
        ActionChains(browser.driver).send_keys(*keys).perform()

    def press_with(self, browser, modifier, key):
        ActionChains(browser.driver).key_down(modifier).send_keys(key).key_up(modifier).perform()

    def longest(self, notes):
        return max(range(len(notes)), key=lambda i: notes[i]["end"] - notes[i]["start"])

    def test_a_corrected_note_is_heard_at_once_and_from_the_instrument(self):
        browser, notes = self.open_notes()
        index = self.longest(notes)
        note = notes[index]
        self.focus(browser, index)
        self.press(browser, Keys.ARROW_UP, Keys.ARROW_UP, Keys.ARROW_UP)
        self.assertEqual(browser.notes()[index]["pitch"], note["pitch"] + 3)
        self.press(browser, Keys.ENTER)
        browser.wait_until_heard("the corrected note from the synth", hz_of(note["pitch"] + 3))
        browser.click("label[for=preset-flute]")
        browser.click("#make")
        browser.wait("the flute", browser.take_rows)
        url = browser.take_rows()[0].find_element("css selector", "a").get_attribute("href")
        heard = browser.run("window.pitchOfFile(arguments[0], arguments[1], arguments[2])", url, note["start"], note["end"])
        # The octave is that of the instrument; the place within it is the correction.
        difference = 12 * math.log2(heard / hz_of(note["pitch"] + 3)) % 12
        self.assertLess(min(difference, 12 - difference), 0.7, f"heard {heard} Hz")
        self.expect_clean(browser, "8-corrected")

    def test_keys_do_all_that_the_pointer_does(self):
        browser, notes = self.open_notes()
        index = self.longest(notes)
        self.focus(browser, index)
        self.press_with(browser, Keys.SHIFT, Keys.ARROW_UP)
        self.assertEqual(browser.notes()[index]["pitch"], notes[index]["pitch"] + 12)
        self.press_with(browser, Keys.CONTROL, Keys.ARROW_LEFT)
        self.assertAlmostEqual(browser.notes()[index]["end"], notes[index]["end"] - 0.02, 6)
        self.press(browser, Keys.DELETE)
        self.assertEqual(len(browser.notes()), len(notes) - 1)
        self.press(browser, Keys.INSERT)
        self.assertEqual(len(browser.notes()), len(notes))
        for _ in range(4):
            self.press_with(browser, Keys.CONTROL, "z")
        self.assertEqual(browser.notes(), notes)
        self.press_with(browser, Keys.CONTROL, "y")
        self.assertEqual(browser.notes()[index]["pitch"], notes[index]["pitch"] + 12)
        self.assertEqual(browser.console_errors(), [])

    def test_the_arrows_walk_along_the_notes(self):
        browser, notes = self.open_notes()
        self.focus(browser, 0)
        self.press(browser, Keys.ARROW_RIGHT, Keys.ARROW_RIGHT, Keys.ARROW_LEFT)
        focused = browser.run("[...document.querySelectorAll('#roll .note')].indexOf(document.activeElement)")
        self.assertEqual(focused, 1)
        self.assertEqual(browser.notes(), notes)

    def test_a_dragged_note_moves(self):
        browser, notes = self.open_notes()
        index = self.longest(notes)
        button = browser.find_all("#roll .note")[index]
        row = button.size["height"] + 1
        ActionChains(browser.driver).drag_and_drop_by_offset(button, 0, -2 * row).perform()
        self.assertEqual(browser.notes()[index]["pitch"], notes[index]["pitch"] + 2)
        self.assertAlmostEqual(browser.notes()[index]["start"], notes[index]["start"], 6)
        browser.click("#tool-undo")
        self.assertEqual(browser.notes(), notes)

    def test_a_dragged_end_stretches(self):
        browser, notes = self.open_notes()
        index = self.longest(notes)
        button = browser.find_all("#roll .note")[index]
        browser.run("arguments[0].scrollIntoView({block: 'center', inline: 'center'})", button)
        width = button.size["width"]
        ActionChains(browser.driver).move_to_element_with_offset(button, width // 2 - 2, 0).click_and_hold().move_by_offset(
            40, 0).release().perform()
        after = browser.notes()[index]
        self.assertEqual(after["start"], notes[index]["start"])
        self.assertGreater(after["end"], notes[index]["end"] + 0.1)

    def test_a_double_click_adds_a_note(self):
        browser, notes = self.open_notes()
        field = browser.find("#roll")
        ActionChains(browser.driver).move_to_element_with_offset(field, 0, -field.size["height"] // 2 + 8).double_click().perform()
        self.assertGreater(max(note["pitch"] for note in browser.notes()), max(note["pitch"] for note in notes))

    def test_the_buttons_change_a_note_on_a_phone(self):
        browser, notes = self.open_notes(PHONE)
        browser.find_all("#roll .note")[0].click()
        for tool in ["higher", "longer", "later", "lower"]:
            browser.click(f"#tool-{tool}")
        after = browser.notes()[0]
        self.assertEqual(after["pitch"], notes[0]["pitch"])
        self.assertAlmostEqual(after["start"], notes[0]["start"] + 0.05, 6)
        browser.click("#tool-delete")
        self.assertEqual(len(browser.notes()), len(notes) - 1)
        self.expect_clean(browser, "9-tools")

    def test_the_key_shows_what_will_be_played(self):
        browser, notes = self.open_notes()
        browser.find("#score summary").click()
        browser.find("#option-key option[value='C']").click()
        preview = "import('/page/state.js').then((state) => state.get('preview'))"
        browser.wait("the preview", lambda: browser.run(preview))
        white = {0, 2, 4, 5, 7, 9, 11}
        self.assertTrue({note["pitch"] % 12 for note in browser.run(preview)} <= white)
        self.assertEqual(browser.notes(), notes)
        browser.find("#option-key option[value='off']").click()
        browser.wait("no preview", lambda: not browser.run(preview))
        self.expect_clean(browser, "10-score")
