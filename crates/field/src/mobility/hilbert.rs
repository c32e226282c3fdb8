//! A curve through a square (Hilbert, 1891): what is close together on it is close together on the plane, and mostly
//! the other way round.

use crate::plane::Point;

/// The square is cut into two to the power of this in both directions.
const BITS: u32 = 16;

/// How far along the curve a point is, in the square with this corner and side. A point outside counts as the nearest
/// one inside.
pub(super) fn place(point: Point, corner: Point, side: f64) -> u32 {
    let cells = f64::from(1 << BITS);
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // saturates, as it should
    let cell = |offset: f64| ((offset / side * cells) as u32).min((1 << BITS) - 1);
    along(cell(point.x - corner.x), cell(point.y - corner.y))
}

/// How far along the curve a cell is: which quarter of the square, then which quarter of that, and so on. The curve
/// runs through each quarter as through the whole, turned and mirrored so that the ends meet.
fn along(mut x: u32, mut y: u32) -> u32 {
    let mut along = 0;
    for bit in (0..BITS).rev() {
        let (right, upper) = (x >> bit & 1, y >> bit & 1);
        along = along << 2 | ((3 * right) ^ upper);
        if upper == 0 {
            if right == 1 {
                (x, y) = (!x, !y);
            }
            (x, y) = (y, x);
        }
    }
    along
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_curve_goes_through_every_cell_once_and_from_each_to_one_beside_it() {
        // Where it starts there is a square of its own, which it leaves only when it has been everywhere.
        const SIDE: u32 = 64;
        let mut cells: Vec<_> = (0..SIDE * SIDE).map(|cell| (cell % SIDE, cell / SIDE)).collect();
        cells.sort_unstable_by_key(|&(x, y)| along(x, y));
        let ways: Vec<_> = cells.iter().map(|&(x, y)| along(x, y)).collect();
        assert_eq!(ways, (0..SIDE * SIDE).collect::<Vec<_>>());
        for pair in cells.windows(2) {
            let ((x, y), (next_x, next_y)) = (pair[0], pair[1]);
            assert_eq!(x.abs_diff(next_x) + y.abs_diff(next_y), 1, "{pair:?}");
        }
    }

    #[test]
    fn what_is_outside_counts_as_the_border() {
        let at = |x, y| place(Point { x, y }, Point { x: 10.0, y: 10.0 }, 100.0);
        assert_eq!(at(-5.0, 5.0), at(10.0, 10.0));
        assert_eq!(at(200.0, 10.0), at(110.0, 10.0));
        assert_ne!(at(10.0, 10.0), at(110.0, 10.0));
    }
}
