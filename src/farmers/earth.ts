// The WGS 84 ellipsoid: its semi-major axis in meters, and the square of its eccentricity.
const equatorRadius = 6_378_137;
const eccentricity2 = 0.0066943799901413165;

const radiansPerDegree = 0.017453292519943295;

/**
 * The length of a degree of longitude (east) and of latitude (north), at a latitude φ. With w = 1 - e² sin² φ, the radius of
 * curvature is a / √w across the meridian, and a (1 - e²) / w^1.5 along it.
 */
export function metersPerDegree(latitude: number): readonly [east: number, north: number] {
  const sine = sineOfDegrees(latitude);
  const cosine = Math.sqrt(1 - sine * sine);
  const w = 1 - eccentricity2 * sine * sine;

  // A degree of the circle with each radius, in meters.
  const acrossMeridian = (equatorRadius * radiansPerDegree) / Math.sqrt(w);
  const alongMeridian = (acrossMeridian * (1 - eccentricity2)) / w;
  // The circle of a latitude is as much smaller as the cosine of the latitude.
  return [acrossMeridian * cosine, alongMeridian];
}

/** The sine of an angle in degrees, by its Taylor series: `Math.sin` may differ between engines. */
function sineOfDegrees(degrees: number): number {
  const angle = degrees * radiansPerDegree;
  const square = angle * angle;
  let term = angle;
  let sum = angle;
  for (let n = 2; Math.abs(term) > 1e-17; n += 2) {
    term *= -square / (n * (n + 1));
    sum += term;
  }
  return sum;
}
