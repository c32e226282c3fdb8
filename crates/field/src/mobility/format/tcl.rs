//! Tcl, as far as it goes to tell commands and words apart. Nothing is computed or put in for a variable.
//! ```text
//! set x 1; puts "two words"   ;# a comment
//! proc name {} {
//!     one word, of two lines
//! }
//! ```

use super::lines::Refusal;

/// A word of a command, without its quotes or braces.
#[derive(Clone, Debug)]
pub(super) struct Word {
    pub(super) text: String,
    /// Where it begins.
    pub(super) line: u64,
    /// Whether it is in quotes or braces.
    pub(super) is_wrapped: bool,
}

/// What the reader is in the middle of.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
enum Inside {
    #[default]
    Nothing,
    Comment,
    /// A word that is not wrapped, and how many brackets are open in it.
    Bare(u32),
    Quotes,
    /// How many braces are open.
    Braces(u32),
    /// A wrapped word that is over; a blank must follow.
    Closed,
}

/// Reads commands, line by line.
#[derive(Default)]
pub(super) struct Tcl {
    /// The command so far.
    words: Vec<Word>,
    inside: Inside,
    /// Whether a backslash stands before the next character.
    is_escaped: bool,
}

impl Tcl {
    /// Reads a line and hands over every command that ends in it.
    pub(super) fn line(
        &mut self,
        number: u64,
        line: &str,
        take: &mut impl FnMut(&[Word]) -> Result<(), Refusal>,
    ) -> Result<(), Refusal> {
        let text = line.trim_end_matches(['\r', '\n']);
        for character in text.chars().chain(['\n']) {
            if self.character(number, character)? {
                let words = std::mem::take(&mut self.words);
                if !words.is_empty() {
                    take(&words)?;
                }
            }
        }
        Ok(())
    }

    /// The last line is over.
    pub(super) fn end(&self) -> Result<(), Refusal> {
        let open = match self.inside {
            Inside::Quotes => "quote",
            Inside::Braces(_) => "brace",
            Inside::Bare(_) => "bracket",
            Inside::Nothing | Inside::Comment | Inside::Closed => return Ok(()),
        };
        let line = self.words.last().map_or(1, |word| word.line);
        Err(Refusal { line, reason: format!("the {open} that is opened here is not closed up to the end of the file") })
    }

    /// Whether a command, which may be empty, ends with this character.
    fn character(&mut self, line: u64, character: char) -> Result<bool, Refusal> {
        if std::mem::take(&mut self.is_escaped) {
            self.escaped(line, character);
            return Ok(false);
        }
        if character == '\\' {
            self.is_escaped = true;
            return Ok(false);
        }
        let ends_command = matches!(character, '\n' | ';');
        match self.inside {
            Inside::Comment if character == '\n' => self.inside = Inside::Nothing,
            Inside::Comment => {}
            Inside::Nothing if ends_command => return Ok(true),
            Inside::Nothing => self.begin(line, character),
            Inside::Bare(0) | Inside::Closed if ends_command => {
                self.inside = Inside::Nothing;
                return Ok(true);
            }
            Inside::Bare(0) | Inside::Closed if character.is_whitespace() => self.inside = Inside::Nothing,
            Inside::Closed => {
                let line = self.words.last().map_or(line, |word| word.line);
                let reason = "there is text right behind a closing quote or brace; is another one missing before it?";
                return Err(Refusal { line, reason: reason.into() });
            }
            Inside::Bare(brackets) => {
                self.inside = Inside::Bare(depth(brackets, character, '[', ']'));
                self.push(character);
            }
            Inside::Quotes if character == '"' => self.inside = Inside::Closed,
            Inside::Quotes => self.push(character),
            Inside::Braces(braces) => {
                let braces = depth(braces, character, '{', '}');
                self.inside = if braces == 0 { Inside::Closed } else { Inside::Braces(braces) };
                if braces > 0 {
                    self.push(character);
                }
            }
        }
        Ok(false)
    }

    /// Begins a word, or a comment.
    fn begin(&mut self, line: u64, character: char) {
        if character.is_whitespace() {
            return;
        }
        if character == '#' && self.words.is_empty() {
            self.inside = Inside::Comment;
            return;
        }
        let is_wrapped = matches!(character, '"' | '{');
        self.words.push(Word { text: String::new(), line, is_wrapped });
        self.inside = match character {
            '"' => Inside::Quotes,
            '{' => Inside::Braces(1),
            _ => Inside::Bare(depth(0, character, '[', ']')),
        };
        if !is_wrapped {
            self.push(character);
        }
    }

    /// A character with a backslash before it means itself; the end of a line is a blank.
    fn escaped(&mut self, line: u64, character: char) {
        match (self.inside, character) {
            (Inside::Comment, _) | (Inside::Nothing, '\n') => {}
            (Inside::Bare(0) | Inside::Closed, '\n') => self.inside = Inside::Nothing,
            (Inside::Nothing | Inside::Closed, _) => {
                self.words.push(Word { text: character.to_string(), line, is_wrapped: false });
                self.inside = Inside::Bare(0);
            }
            // Lines are counted in what is wrapped.
            (_, character) => self.push(character),
        }
    }

    fn push(&mut self, character: char) {
        if let Some(word) = self.words.last_mut() {
            word.text.push(character);
        }
    }
}

/// How many are open after this character.
fn depth(before: u32, character: char, open: char, close: char) -> u32 {
    if character == open {
        before.saturating_add(1)
    } else if character == close {
        before.saturating_sub(1)
    } else {
        before
    }
}
