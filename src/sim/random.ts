/**
 * sfc32 (Doty-Humphrey). Each part of a run has its own stream, so a change in one leaves the others
 * unchanged.
 */

export interface SimRandom {
  /** Draws uniformly, 0 < u < 1. */
  uniform(): number;
  normal(): number;
  /** Draws with mean 0 and mean absolute value `scale`. */
  laplace(scale: number): number;
  exponential(mean: number): number;
  below(n: number): number;
}

const WARM_UP = 16;

export function createRandom(seed: number, stream = 0): SimRandom {
  let [a, b, c, counter] = [mix(seed), mix(stream + 0x5bd1_e995), mix(seed ^ (stream << 16)), 1];
  let spare: number | undefined;

  function bits(): number {
    const out = (a + b + counter) | 0;
    counter = (counter + 1) | 0;
    a = b ^ (b >>> 9);
    b = (c + (c << 3)) | 0;
    c = (((c << 21) | (c >>> 11)) + out) | 0;
    return out >>> 0;
  }
  for (let round = 0; round < WARM_UP; round++) bits();

  // 53 bits, never 0, because its logarithm is taken.
  const uniform = () => ((bits() >>> 5) * 67_108_864 + (bits() >>> 6) + 0.5) / 9_007_199_254_740_992;

  return {
    uniform,
    normal() {
      if (spare !== undefined) {
        const kept = spare;
        spare = undefined;
        return kept;
      }
      // Marsaglia's polar method: two normals at a time.
      for (;;) {
        const x = 2 * uniform() - 1;
        const y = 2 * uniform() - 1;
        const square = x * x + y * y;
        if (square >= 1) continue;
        const scale = Math.sqrt((-2 * Math.log(square)) / square);
        spare = y * scale;
        return x * scale;
      }
    },
    laplace(scale) {
      const u = uniform() - 0.5;
      return -scale * Math.sign(u) * Math.log(1 - 2 * Math.abs(u));
    },
    exponential: (mean) => -mean * Math.log(uniform()),
    below: (n) => Math.floor(uniform() * n),
  };
}

/** Mixes with MurmurHash3's finaliser, which spreads neighbouring seeds. */
function mix(value: number): number {
  let bits = value | 0;
  bits = Math.imul(bits ^ (bits >>> 16), 0x85eb_ca6b);
  bits = Math.imul(bits ^ (bits >>> 13), 0xc2b2_ae35);
  return bits ^ (bits >>> 16);
}
