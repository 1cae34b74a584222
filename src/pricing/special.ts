/** Normal density, normal distribution and Lambert W, to double precision. */

const SQRT_2PI = Math.sqrt(2 * Math.PI);

export function normalPdf(z: number): number {
  return Math.exp(-0.5 * z * z) / SQRT_2PI;
}

/**
 * Standard normal distribution: Hart's rational approximation (1968, no. 5666) up to 7.07, a continued
 * fraction beyond. Error 1e-15 absolute, about 1e-13 relative in the lower tail, which option values depend
 * on.
 */
export function normalCdf(z: number): number {
  const distance = Math.abs(z);
  const tail = distance > 38 ? 0 : distance < 7.071067811865475 ? hart(distance) : fraction(distance);
  return z > 0 ? 1 - tail : tail;
}

function hart(z: number): number {
  const above =
    (((((0.0352624965998911 * z + 0.700383064443688) * z + 6.37396220353165) * z + 33.912866078383) * z +
      112.079291497871) *
      z +
      221.213596169931) *
      z +
    220.206867912376;
  const below =
    ((((((0.0883883476483184 * z + 1.75566716318264) * z + 16.064177579207) * z + 86.7807322029461) * z +
      296.564248779674) *
      z +
      637.333633378831) *
      z +
      793.826512519948) *
      z +
    440.413735824752;
  return (Math.exp(-0.5 * z * z) * above) / below;
}

function fraction(z: number): number {
  let depth = z;
  for (let term = 20; term >= 1; term--) depth = z + term / depth;
  return normalPdf(z) / depth;
}

/** Returns W0(e^y): w with w + ln w = y. Takes y so that e^y cannot overflow. */
export function lambertWExp(y: number): number {
  if (y < -700) return Math.exp(y);
  let w = y > 1 ? y - Math.log(y) : Math.exp(y) / (1 + Math.exp(y));
  for (let round = 0; round < 12; round++) {
    const next = (w * (1 + y - Math.log(w))) / (1 + w);
    if (Math.abs(next - w) <= 1e-15 * next) return next;
    w = next;
  }
  return w;
}
