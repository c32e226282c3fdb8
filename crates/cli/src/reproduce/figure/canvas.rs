//! Lines, marks and texts, in pixels.
//!
//! The SVG backend of plotters puts everything on whole units, so the canvas is drawn in tenths of a pixel. No font is
//! at hand to measure with, so every text hangs on an anchor and the room for it comes from an estimate of its width.

use plotters::coord::Shift;
use plotters::element::DashedPathElement;
use plotters::prelude::{
    Circle, Color, DrawingArea, DrawingAreaErrorKind, FontDesc, FontFamily, FontStyle, FontTransform, PathElement,
    Polygon, RGBColor, SVGBackend, Text, WHITE,
};
use plotters::style::text_anchor::{HPos, Pos, VPos};

/// The colours of Okabe and Ito without the yellow, which is lost on white.
const PALETTE: [u32; 7] = [0x00_72_B2, 0xD5_5E_00, 0x00_9E_73, 0xCC_79_A7, 0xE6_9F_00, 0x56_B4_E9, 0x00_00_00];
pub(super) const INK: RGBColor = RGBColor(0x22, 0x22, 0x22);
/// Units of the canvas per pixel. All other lengths are in pixels.
const SCALE: f64 = 10.0;
pub(super) const MARK_RADIUS: f64 = 3.2;
/// The outlines of the marks between circle and cross, in radii: square, triangle, diamond. They go on over the first
/// edge, so that all corners are joints.
const OUTLINES: [&[Pixel]; 3] = [
    &[(-0.9, -0.9), (0.9, -0.9), (0.9, 0.9), (-0.9, 0.9), (-0.9, -0.9), (0.9, -0.9)],
    &[(0.0, -1.25), (1.15, 0.8), (-1.15, 0.8), (0.0, -1.25), (1.15, 0.8)],
    &[(0.0, -1.3), (1.3, 0.0), (0.0, 1.3), (-1.3, 0.0), (0.0, -1.3), (1.3, 0.0)],
];

/// A place, from the upper left corner.
pub(super) type Pixel = (f64, f64);
pub(super) type Drawn = Result<(), DrawingAreaErrorKind<std::io::Error>>;

/// How a series looks. Indices beyond the last colour or mark start over.
#[derive(Clone, Copy)]
pub(crate) struct Style {
    /// Blue, vermilion, green, purple, orange, sky blue, black.
    pub hue: usize,
    pub dash: bool,
    /// Circle, square, triangle, diamond, cross, then the first four hollow.
    pub mark: usize,
}

impl Style {
    /// How many colours and marks there are.
    pub(crate) const COLOURS: usize = PALETTE.len();
    pub(crate) const MARKS: usize = 9;

    /// The nth line of this colour.
    pub(crate) fn of_line(hue: usize, nth: usize) -> Self {
        Self { hue, dash: nth % 2 == 1, mark: nth }
    }

    /// The only line of this colour, which has a mark of its own too.
    pub(crate) fn of_colour(hue: usize) -> Self {
        Self { hue, dash: false, mark: hue }
    }

    /// The colour as pages write it.
    pub(crate) fn hex(self) -> String {
        format!("#{:06X}", PALETTE[self.hue % PALETTE.len()])
    }

    pub(super) fn colour(self) -> RGBColor {
        let [_, red, green, blue] = PALETTE[self.hue % PALETTE.len()].to_be_bytes();
        RGBColor(red, green, blue)
    }
}

#[derive(Clone, Copy)]
pub(super) struct Font {
    pub(super) size: f64,
    anchor: HPos,
    style: FontStyle,
    rising: bool,
}

pub(super) const LABEL: Font = Font { size: 13.0, anchor: HPos::Center, style: FontStyle::Normal, rising: false };
pub(super) const TITLE: Font = Font { size: 15.0, style: FontStyle::Bold, ..LABEL };
pub(super) const RISING: Font = Font { rising: true, ..LABEL };
pub(super) const TICK: Font = Font { size: 12.5, anchor: HPos::Right, ..LABEL };
/// As [`TICK`], under its tick instead of left of it.
pub(super) const TICK_BELOW: Font = Font { anchor: HPos::Center, ..TICK };
pub(super) const ENTRY: Font = Font { anchor: HPos::Left, ..LABEL };

impl Font {
    /// About how wide the text is in one of the wider faces.
    pub(super) fn width(&self, text: &str) -> f64 {
        self.size * 0.62 * text.chars().count() as f64
    }

    pub(super) fn scaled(self, share: f64) -> Self {
        Self { size: self.size * share, ..self }
    }
}

fn whole(value: f64) -> i32 {
    #[expect(clippy::cast_possible_truncation, reason = "it saturates, far off any canvas")]
    let whole = value.round() as i32;
    whole
}

pub(super) fn units(pixels: f64) -> i32 {
    whole(pixels * SCALE)
}

fn spots(path: &[Pixel]) -> Vec<(i32, i32)> {
    path.iter().map(|&(x, y)| (units(x), units(y))).collect()
}

/// The drawing area, in pixels.
pub(super) struct Canvas<'a>(pub(super) DrawingArea<SVGBackend<'a>, Shift>);

impl Canvas<'_> {
    pub(super) fn line(&self, path: &[Pixel], colour: RGBColor, width: f64, dash: bool) -> Drawn {
        let style = colour.stroke_width(units(width).unsigned_abs());
        if dash {
            self.0.draw(&DashedPathElement::new(spots(path), units(6.0), units(3.5), style))
        } else {
            self.0.draw(&PathElement::new(spots(path), style))
        }
    }

    pub(super) fn mark(&self, (x, y): Pixel, style: Style) -> Drawn {
        let (colour, r) = (style.colour(), MARK_RADIUS);
        let fill = if style.mark % Style::MARKS > 4 { WHITE } else { colour };
        match style.mark % Style::MARKS % 5 {
            0 => {
                let circle = |style| Circle::new((units(x), units(y)), units(r), style);
                self.0.draw(&circle(fill.filled()))?;
                self.0.draw(&circle(colour.stroke_width(units(1.2).unsigned_abs())))
            }
            4 => {
                self.line(&[(x - r, y - r), (x + r, y + r)], colour, 1.6, false)?;
                self.line(&[(x - r, y + r), (x + r, y - r)], colour, 1.6, false)
            }
            shape => {
                let outline: Vec<_> = OUTLINES[shape - 1].iter().map(|(dx, dy)| (x + r * dx, y + r * dy)).collect();
                self.0.draw(&Polygon::new(spots(&outline), fill.filled()))?;
                self.line(&outline, colour, 1.2, false)
            }
        }
    }

    /// Writes on the baseline through the pixel, smaller if the text would not fit into the room.
    pub(super) fn text(&self, text: &str, (x, y): Pixel, font: Font, room: f64) -> Drawn {
        let text: String = text.chars().filter(|c| !c.is_control()).collect();
        let size = font.size.min(font.size * room / font.width(&text).max(1.0));
        // The backend writes in 1/1.24 of the size given, and 0.76 of that below an anchor at the top.
        let face = FontDesc::new(FontFamily::Name("Helvetica, Arial, sans-serif"), size * SCALE * 1.24, font.style);
        let drop = 0.76 * size;
        let (turn, x, y) =
            if font.rising { (FontTransform::Rotate270, x - drop, y) } else { (FontTransform::None, x, y - drop) };
        let style = face.transform(turn).color(&INK).pos(Pos::new(font.anchor, VPos::Top));
        self.0.draw(&Text::new(text, (units(x), units(y)), style))
    }
}
