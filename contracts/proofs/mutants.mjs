/**
 * For each proof one fault in the library that it is about. `npm run prove` compiles the library with `to` in
 * the place of `from`, which stands there once, and expects the solver to find a counterexample.
 */

const mutant = (proof, library, from, to) => ({ proof, file: `contracts/src/libraries/${library}.sol`, from, to });

export const MUTANTS = [
  mutant('LimitProof.theWordIsItsFields', 'LimitLib', 'return uint96(limit);', 'return uint64(limit);'),
  mutant('LimitProof.aRuleLeavesWhatIsCounted', 'LimitLib', '+ uint128(limit)', '+ uint96(limit)'),
  mutant('LimitProof.aWindowLeavesTheRule', 'LimitLib', '(timestamp < since', '(timestamp <= since'),
  mutant('LimitProof.aSpendIsCountedAndNothingElse', 'LimitLib', 'limit + amount', 'limit + 2 * amount'),
  mutant('LimitProof.aSpendIsNeverAboveMost', 'LimitLib', 'most(limit) - spent(limit)', 'most(limit)'),
  mutant('LedgerProof.anEntryIsItsTwoCounters', 'LedgerLib', 'fees_ * FEES', 'fees_ * FEES / 2'),
  mutant('LedgerProof.aCreditAddsToBoth', 'LedgerLib', 'uint128(entry)', 'uint120(entry)'),
  mutant('LedgerProof.aDebitLeavesTheFees', 'LedgerLib', 'entry - amount', 'entry - amount * FEES'),
  mutant('FeeProof.noSliceTakesMoreThanIsLeft', 'FeeLib', 'portionBps / BPS', 'portionBps / (BPS - 1)'),
  mutant('FeeProof.twoSlicesSumToTheAmount', 'FeeLib', 'last ? left :', 'last && left < 0 ? left :'),
  mutant('FeeProof.noFeesExceedTheirSlice', 'FeeLib', 'require(fees <= slice,', 'require(fees <= slice + 1,'),
  mutant('StatusProof.aStepNeverGoesBack', 'StatusLib', 'uint256(to) - uint256(from)', 'uint256(from) - uint256(to)'),
  mutant('StatusProof.anOpenedOrderKeepsItsTime', 'StatusLib', 'timestamp * 4', 'timestamp * 2'),
  mutant('NonceProof.aUsedNonceIsUsed', 'NonceLib', 'word | bit(nonce)', 'word ^ bit(nonce)'),
  mutant('NonceProof.noOtherBitChanges', 'NonceLib', 'nonce & 0xff', 'nonce & 0x7f'),
  mutant('BondProof.paidAndForfeitedAreTheCost', 'BondLib', 'full < total', 'full > total'),
  mutant('BondProof.theCostIsTwiceTheShareWhereTheBondHasIt', 'BondLib', '2 * (promised', '3 * (promised'),
  mutant('AccountProof.aRequestIsCountedWithinTheLimit', 'DayLimitLib', 'most - sum : 0', 'most : 0'),
  mutant('AccountProof.whatIsSentIsCountedWithinTheLimit', 'DayLimitLib', 'limit.day != day', 'limit.day < day'),
  mutant('CommitteeProof.acceptedSignersAreDistinctMembers', 'CommitteeLib', 'from + 1 : 0', 'from : 0'),
  mutant('CommitteeStepProof.aMemberIsFoundBehindTheLast', 'CommitteeLib', '== signer ?', '>= signer ?'),
];
