//! Longitudes and latitudes as metres on a plane.
//!
//! The projection is transverse Mercator on the ellipsoid WGS 84, as of UTM, with the middle of what there is as its
//! meridian and its scale true there: within 50 km of it lengths are right to 3 parts in 100,000. The formulas are
//! Krueger's series to the third order (Karney: "Transverse Mercator with an accuracy of a few nanometers", 2011),
//! right to a millimetre.

use crate::plane::Point;

use super::lines::{number, shown};
use crate::mobility::tracks::Tracks;

/// The widest that a trace may be, in degrees of longitude: a zone of UTM.
const WIDE: f64 = 6.0;
/// The greatest latitude.
const POLAR: f64 = 89.0;

/// The equatorial radius of WGS 84 in metres, and its third flattening.
const RADIUS: f64 = 6_378_137.0;
const FLATTENING: f64 = 1.0 / 298.257_223_563;
const N: f64 = FLATTENING / (2.0 - FLATTENING);
/// The radius of a circle as long as a meridian.
const RECTIFYING: f64 = RADIUS / (1.0 + N) * (1.0 + N * N / 4.0 + N * N * N * N / 64.0);
const ALPHA: [f64; 3] = [
    N / 2.0 - 2.0 / 3.0 * N * N + 5.0 / 16.0 * N * N * N,
    13.0 / 48.0 * N * N - 3.0 / 5.0 * N * N * N,
    61.0 / 240.0 * N * N * N,
];

/// A place as it is written down, in degrees: x is the longitude, y the latitude.
pub(super) fn place(longitude: &str, latitude: &str) -> Result<Point, String> {
    let degrees = |text: &str, what: &str, most: f64| {
        let value = number(text, what)?;
        let is_one = value.abs() <= most;
        is_one.then_some(value).ok_or_else(|| format!("{what} is from -{most} to {most} degrees, not {}", shown(text)))
    };
    Ok(Point { x: degrees(longitude, "a longitude", 180.0)?, y: degrees(latitude, "a latitude", POLAR)? })
}

/// Tracks in degrees as tracks in metres, counted from the least x, to the east, and the least y, to the north.
pub(super) fn in_metres(tracks: Tracks) -> Result<Tracks, String> {
    let (first, _) = tracks.bounds();
    // Also where the 180th meridian is in the middle.
    let unrolled = tracks.map_points(|Point { x, y }| {
        let east = (x - first.x + 180.0).rem_euclid(360.0) - 180.0;
        Point { x: east, y }
    });
    let (low, high) = unrolled.bounds();
    let wide = high.x - low.x;
    if wide > WIDE {
        return Err(format!(
            "the places are up to {wide:.1} degrees of longitude apart, and {WIDE} are the most that a plane can hold"
        ));
    }
    let middle = f64::midpoint(low.x, high.x);
    let flat = unrolled.map_points(|Point { x, y }| transverse_mercator(x - middle, y));
    let (corner, _) = flat.bounds();
    Ok(flat.map_points(|Point { x, y }| Point { x: x - corner.x, y: y - corner.y }))
}

/// Metres to the east of the meridian and to the north of the equator, of degrees.
fn transverse_mercator(longitude: f64, latitude: f64) -> Point {
    let (east, north) = (longitude.to_radians(), latitude.to_radians());
    let eccentricity = 2.0 * N.sqrt() / (1.0 + N);
    let sine = libm::sin(north);
    // The tangent of the latitude on the sphere that has the same angles.
    let conformal = libm::sinh(libm::atanh(sine) - eccentricity * libm::atanh(eccentricity * sine));
    let xi = libm::atan2(conformal, libm::cos(east));
    let eta = libm::atanh(libm::sin(east) / (1.0 + conformal * conformal).sqrt());
    let (mut x, mut y) = (eta, xi);
    for (alpha, times) in ALPHA.into_iter().zip([2.0, 4.0, 6.0]) {
        x += alpha * libm::cos(times * xi) * libm::sinh(times * eta);
        y += alpha * libm::sin(times * xi) * libm::cosh(times * eta);
    }
    Point { x: RECTIFYING * x, y: RECTIFYING * y }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The lengths of a degree on WGS 84, in metres.
    #[test]
    fn a_degree_is_as_long_as_it_is() {
        for (latitude, of_latitude, of_longitude) in [
            (0.0, 110_574.3, 111_319.5),
            (30.0, 110_852.4, 96_486.3),
            (45.0, 111_131.7, 78_846.8),
            (60.0, 111_412.2, 55_800.0),
        ] {
            let north = transverse_mercator(0.0, latitude + 0.005).y - transverse_mercator(0.0, latitude - 0.005).y;
            let east = transverse_mercator(0.005, latitude).x - transverse_mercator(-0.005, latitude).x;
            assert!((north * 100.0 - of_latitude).abs() < 1.0, "{latitude}: {north}");
            assert!((east * 100.0 - of_longitude).abs() < 1.0, "{latitude}: {east}");
        }
        // A quarter of a meridian: 10,001,965.729 m.
        assert!((transverse_mercator(0.0, 90.0 - 1e-9).y - 10_001_965.729).abs() < 0.01);
    }
}
