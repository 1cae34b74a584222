/** Runs any published model at chosen parameters: the command's options and the resulting figures. */

import { RequestError } from '../../domain/errors.ts';
import { bachelierCall, jumpCost, optionCost, perRootSecond } from '../../pricing/option.ts';
import { lambertWExp } from '../../pricing/special.ts';
import { AS2008, averageSpread, simulateAvellaneda } from './avellaneda.ts';
import { firmRows } from '../bars.ts';
import { blackScholes } from './black-scholes.ts';
import { breakEven } from './chances.ts';
import { createRandom } from '../random.ts';
import { FIRM, STRATEGIES } from '../firm-setup.ts';
import { glft } from './glft.ts';
import { JOURNAL, journalRows } from './published-makers.ts';
import { allInform, type ReportRow } from '../row.ts';

type Named = Readonly<Record<string, string>>;

interface Given {
  number(
    name: string,
    fallback: number,
    bounds?: { above?: number; least?: number; most?: number; whole?: boolean },
  ): number;
  choice<const T extends string>(name: string, of: readonly T[], fallback: T): T;
}

interface Model {
  options: readonly string[];
  rows(given: Given): ReportRow[];
}

const POSITIVE = { above: 0 };
const COUNT = { least: 1, most: 1_000_000, whole: true };
const SEED = { least: 0, most: 2 ** 31, whole: true };

const MODELS: Record<string, Model> = {
  as2008: {
    options: ['gamma', 'sigma', 'k', 'A', 'T', 'dt', 'paths', 'seed', 'strategy', 'fills', 'spread'],
    rows({ number, choice }) {
      const setup = {
        gamma: number('gamma', 0.1, POSITIVE),
        sigma: number('sigma', AS2008.sigma, POSITIVE),
        k: number('k', AS2008.k, POSITIVE),
        A: number('A', AS2008.A, POSITIVE),
        T: number('T', AS2008.T, POSITIVE),
        dt: number('dt', AS2008.dt, POSITIVE),
        paths: number('paths', AS2008.paths, COUNT),
        strategy: choice('strategy', ['inventory', 'symmetric'], 'inventory'),
        fills: choice('fills', ['literal', 'exact'], 'literal'),
        spread: choice('spread', ['journal', 'preprint'], 'journal'),
      };
      if (setup.T / setup.dt > 1e6) throw wrong('dt', 'leaves more than a million steps in T');
      const ours = simulateAvellaneda(setup, createRandom(number('seed', 1, SEED)));
      const asTabled =
        (['sigma', 'k', 'A', 'T', 'dt'] as const).every((name) => setup[name] === AS2008[name]) &&
        setup.fills === 'literal' &&
        setup.spread === 'journal';
      const printed = asTabled
        ? JOURNAL.find(([gamma, strategy]) => gamma === setup.gamma && strategy === setup.strategy)
        : undefined;
      if (printed === undefined)
        return allInform({
          'average spread': averageSpread(setup),
          profit: ours.profit,
          'std of profit': ours.profitStd,
          'final q': ours.finalQ,
          'std of final q': ours.finalQStd,
        });
      return journalRows('', ours, printed, setup.paths);
    },
  },
  glft: {
    options: ['gamma', 'sigma', 'A', 'k', 'Q', 'mu', 'xi', 'q'],
    rows({ number }) {
      const setup = {
        gamma: number('gamma', 0.01, POSITIVE),
        sigma: number('sigma', 0.3, POSITIVE),
        A: number('A', 0.9, POSITIVE),
        k: number('k', 0.3, POSITIVE),
        Q: number('Q', 30, { least: 1, most: 1000, whole: true }),
        mu: number('mu', 0),
        xi: number('xi', 0, { least: 0 }),
      };
      const ours = glft(setup);
      const asked = number('q', Number.NaN, { least: -setup.Q + 1, most: setup.Q - 1, whole: true });
      const positions = Number.isNaN(asked) ? [0, 10, -10, 20].filter((q) => Math.abs(q) < setup.Q) : [asked];
      return [
        ...allInform({ c1: ours.c1, c2: ours.c2, spread: ours.spread, eta: ours.eta }),
        ...positions.flatMap((q) =>
          allInform({
            [`bid at q=${q}, closed form`]: ours.bid(q),
            [`bid at q=${q}, exact`]: ours.exactBid(q),
            [`ask at q=${q}, closed form`]: ours.ask(q),
            [`ask at q=${q}, exact`]: ours.exactAsk(q),
          }),
        ),
      ];
    },
  },
  blackscholes: {
    options: ['S', 'K', 'r', 'sigma', 'T'],
    rows({ number }) {
      const { call, put } = blackScholes({
        S: number('S', 100, POSITIVE),
        K: number('K', 100, POSITIVE),
        r: number('r', 0.05),
        sigma: number('sigma', 0.2, POSITIVE),
        T: number('T', 1, POSITIVE),
      });
      return allInform({ call, put });
    },
  },
  bachelier: {
    options: ['strike', 'deviation', 'sigma', 'seconds', 'jumps', 'jump-bps'],
    rows({ number }) {
      const motion = number('sigma', Number.NaN, POSITIVE);
      const seconds = number('seconds', 60, POSITIVE);
      const deviation = number(
        'deviation',
        Number.isNaN(motion) ? 1 : perRootSecond(motion) * Math.sqrt(seconds),
        POSITIVE,
      );
      const strike = number('strike', 0);
      const jumps = {
        jumps: (number('jumps', 0, { least: 0 }) / 3600) * seconds,
        jumpBps: number('jump-bps', 30, POSITIVE),
        deviation,
      };
      const call = bachelierCall(strike, deviation);
      return allInform({
        deviation,
        call,
        'call / deviation': call / deviation,
        'jump part': jumpCost(strike, jumps),
        'C(D)': optionCost(strike, jumps),
      });
    },
  },
  lambertw: {
    options: ['x'],
    rows: ({ number }) => allInform({ W: lambertWExp(Math.log(number('x', 1, POSITIVE))) }),
  },
  breakeven: {
    options: ['omega'],
    rows: ({ number }) => allInform({ 'd*': breakEven(number('omega', 0.25, { above: 0, most: 1000 })) }),
  },
  firm: {
    options: [
      'theta',
      'validity',
      'strategy',
      'sigma',
      'alpha',
      'beta',
      'believed-sigma',
      'believed-alpha',
      'believed-beta',
      'engines',
      'noise',
      'paths',
      'seed',
    ],
    rows({ number, choice }) {
      const factor = { least: 0.05, most: 20 };
      const noise = number('noise', 0, { least: 0, most: 20 });
      const setup = {
        theta: number('theta', FIRM.theta, { least: 0, most: 0.95 }),
        validitySeconds: number('validity', FIRM.validitySeconds, { least: 1, most: 3_600, whole: true }),
        sigma: number('sigma', FIRM.sigma, { above: 0, most: 20 }),
        alpha: number('alpha', FIRM.alpha, { least: -20, most: 20 }),
        beta: number('beta', FIRM.beta, { least: 0.05, most: 2 }),
        believed: {
          sigma: number('believed-sigma', 1, factor),
          alpha: number('believed-alpha', 1, factor),
          beta: number('believed-beta', 1, factor),
        },
        engines: number('engines', 1, { least: 1, most: 20, whole: true }),
        noiseBps: noise,
        confidence: noise > 0,
      };
      const size = {
        paths: number('paths', 300, { least: 2, most: 100_000, whole: true }),
        seed: number('seed', 1, SEED),
      };
      const strategies = choice('strategy', ['all', ...STRATEGIES], 'all');
      return (strategies === 'all' ? STRATEGIES : [strategies]).flatMap((strategy) =>
        firmRows({ ...setup, strategy }, size),
      );
    },
  },
};

export function modelRows(name: string, named: Named): ReportRow[] {
  const model = MODELS[name];
  if (model === undefined || !Object.hasOwn(MODELS, name))
    throw refused(`There is no model "${name}". One of: ${Object.keys(MODELS).join(', ')}.`);
  for (const option of Object.keys(named)) {
    if (!model.options.includes(option))
      throw refused(
        `The model ${name} has no option --${option}. It takes: ${model.options.map((each) => `--${each}`).join(' ')}.`,
      );
  }
  return model.rows({
    number(option, fallback, { above, least, most, whole } = {}) {
      const text = named[option];
      if (text === undefined) return fallback;
      const value = text.trim() === '' ? Number.NaN : Number(text);
      if (!Number.isFinite(value)) throw wrong(option, `must be a number, not "${text}"`);
      if (whole === true && !Number.isInteger(value))
        throw wrong(option, `must be a whole number, not ${text}`);
      if (above !== undefined && value <= above) throw wrong(option, `must be above ${above}, not ${text}`);
      if (least !== undefined && value < least) throw wrong(option, `must be at least ${least}, not ${text}`);
      if (most !== undefined && value > most) throw wrong(option, `must be at most ${most}, not ${text}`);
      return value;
    },
    choice(option, of, fallback) {
      const text = named[option];
      const found = of.find((each) => each === (text ?? fallback));
      if (found === undefined) throw wrong(option, `must be one of ${of.join(', ')}, not "${text}"`);
      return found;
    },
  });
}

const refused = (message: string) => new RequestError(message, { code: 'bad_request' });
const wrong = (option: string, what: string) => refused(`--${option} ${what}.`);
