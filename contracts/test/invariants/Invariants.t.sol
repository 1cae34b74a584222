// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {DevToken} from "../../src/devnet/DevToken.sol";
import {IAttestationOracle} from "../../src/interfaces/IAttestationOracle.sol";
import {IEscrow, OrderStatus, StandardOrder} from "../../src/interfaces/IEscrow.sol";
import {Test} from "../support/Test.sol";
import {Handler} from "./Handler.sol";
import {Model} from "./Model.sol";

struct FuzzSelector {
    address addr;
    bytes4[] selectors;
}

/// @notice S1 to S14 after every one of a long series of random steps.
contract InvariantsTest is Test {
    Handler private handler;

    function setUp() public {
        handler = new Handler();
        handler.setUp();
    }

    function targetContracts() external view returns (address[] memory list) {
        list = new address[](1);
        list[0] = address(handler);
    }

    /// @dev What leads on is listed more often than what only has to fail.
    function targetSelectors() external view returns (FuzzSelector[] memory list) {
        list = new FuzzSelector[](1);
        list[0] = FuzzSelector(address(handler), selectors());
    }

    function selectors() private pure returns (bytes4[] memory s) {
        s = new bytes4[](29);
        s[0] = Handler.deposit.selector;
        s[1] = Handler.requestWithdrawal.selector;
        s[2] = Handler.withdraw.selector;
        s[3] = Handler.setOperator.selector;
        s[4] = Handler.donate.selector;
        s[5] = Handler.pass.selector;
        s[6] = Handler.settle.selector;
        s[7] = Handler.settleThrough.selector;
        s[8] = Handler.open.selector;
        s[9] = Handler.fill.selector;
        s[10] = Handler.fillWithApprovals.selector;
        s[11] = Handler.attest.selector;
        s[12] = Handler.rotate.selector;
        s[13] = Handler.finalise.selector;
        s[14] = Handler.refund.selector;
        s[15] = Handler.release.selector;
        s[16] = Handler.replay.selector;
        s[17] = Handler.reuseNonce.selector;
        s[18] = Handler.forge.selector;
        s[19] = Handler.open.selector;
        s[20] = Handler.fill.selector;
        s[21] = Handler.attest.selector;
        s[22] = Handler.finalise.selector;
        s[23] = Handler.settle.selector;
        s[24] = Handler.withdrawDeferred.selector;
        s[25] = Handler.withdrawDeferred.selector;
        s[26] = Handler.keepDeferred.selector;
        s[27] = Handler.limitOperator.selector;
        s[28] = Handler.collectFees.selector;
    }

    /// @dev Random steps prove nothing if they never get anywhere: each must have been made, and each refusal met.
    function test_everyStepIsReached() public {
        bytes4[] memory s = selectors();
        for (uint256 i; i < 1000; ++i) {
            uint256 seed = uint256(keccak256(abi.encode(i)));
            (bool success,) = address(handler).call(abi.encodeWithSelector(s[seed % s.length], seed));
            ok(success, "a step reverted");
        }
        string[18] memory names = [
            "deposit",
            "requestWithdrawal",
            "withdraw",
            "setOperator",
            "limitOperator",
            "collectFees",
            "withdrawDeferred",
            "keepDeferred",
            "settle",
            "settleThrough",
            "open",
            "fill",
            "fillWithApprovals",
            "attest",
            "rotate",
            "finalise",
            "refund",
            "release"
        ];
        for (uint256 i; i < names.length; ++i) {
            ok(handler.done(names[i]) != 0, string(abi.encodePacked("never made: ", names[i])));
            bool mayFail = i != 0 && i != 3 && i != 4 && i != 5;
            ok(!mayFail || handler.refusals(names[i]) != 0, string(abi.encodePacked("never refused: ", names[i])));
        }
        ok(handler.pastLimits() != 0, "no limit was met");
        ok(handler.refusals("replay") != 0, "never replayed");
        ok(handler.refusals("reuseNonce") != 0, "never reused");
        ok(handler.refusals("forge") > 10, "hardly forged");
        invariant_S1_to_S14();
    }

    /// @dev One function, because forge plays all steps anew for each.
    function invariant_S1_to_S14() public {
        S1_heldCoversOpenInputs();
        S2_statusEdges();
        S3_paidOutEqualsPaidIn();
        S4_S8_S11_nothingMovesUnbidden();
        S5_deliveredOnce();
        S6_claimedMeansDelivered();
        S9_everyOrderUsesItsNonce();
        S10_allSlicesOrNone();
        S12_noAllowanceNoNative();
        S13_S14_onlyWhatWasAttested();
        everythingHeldIsOwed();
        deferralsAreRemembered();
        operatorsKeepToTheirLimits();
        feesAreKept();
        // Last, because it lets all time pass.
        S7_refundable();
    }

    function S1_heldCoversOpenInputs() private view {
        IEscrow[2] memory places = handler.places();
        for (uint256 p; p < 2; ++p) {
            for (uint256 t; t < 2; ++t) {
                uint256 held = DevToken(handler.token(t)).balanceOf(address(places[p]));
                ok(held >= handler.openInputs(places[p], t), "S1");
            }
        }
    }

    function S2_statusEdges() private view {
        none(handler.illegalEdge(), "S2: status took another way in ");
    }

    function S3_paidOutEqualsPaidIn() private view {
        for (uint256 n; n < handler.count(); ++n) {
            (, Model.Tracked memory o) = handler.orderAt(n);
            OrderStatus status = handler.places()[0].orderStatus(o.id);
            bool over = status == OrderStatus.Claimed || status == OrderStatus.Refunded;
            for (uint256 t; t < 2; ++t) {
                eq(o.paidOut[t], over ? o.paidIn[t] : 0, "S3");
            }
        }
    }

    /// @dev S4: nobody got what was not foretold. S8: no wallet paid what its owner had not signed for. S11, and nobody but the
    /// account withdraws: no ledger entry fell by more than its owner signed for or asked for itself.
    function S4_S8_S11_nothingMovesUnbidden() private view {
        none(handler.surprise(), "not as foretold: ");
        none(handler.rose(), "S4: somebody got too much in ");
        none(handler.walletFell(), "S8: a wallet paid too much in ");
        none(handler.ledgerFell(), "S11: a ledger entry paid too much in ");
        for (uint256 a; a < 9; ++a) {
            for (uint256 t; t < 2; ++t) {
                vm.assertLe(handler.spent(a, t), handler.promised(a, t), "S11: spent more than promised");
            }
        }
    }

    function S5_deliveredOnce() private view {
        for (uint256 t; t < 2; ++t) {
            eq(handler.recipientGot(t), handler.deliveredSum(t), "S5: the recipient's tokens");
        }
    }

    function S6_claimedMeansDelivered() private view {
        for (uint256 n; n < handler.count(); ++n) {
            (StandardOrder memory order, Model.Tracked memory o) = handler.orderAt(n);
            if (handler.places()[0].orderStatus(o.id) != OrderStatus.Claimed) continue;
            for (uint256 i; i < order.outputs.length; ++i) {
                ok(o.filledAt[i] != 0 && o.filledAt[i] <= order.fillDeadline, "S6: claimed without delivery in time");
            }
        }
    }

    /// @dev When all time has passed, whatever is open goes back, whoever asks, and nothing but ledger entries is left.
    function S7_refundable() private {
        vm.warp(handler.clock() + 3 hours);
        IEscrow place = handler.places()[0];
        for (uint256 n; n < handler.count(); ++n) {
            (StandardOrder memory order, Model.Tracked memory o) = handler.orderAt(n);
            if (place.orderStatus(o.id) != OrderStatus.Deposited) continue;
            vm.prank(address(0xabc));
            place.refund(order);
        }
        for (uint256 t; t < 2; ++t) {
            eq(handler.openInputs(place, t), 0, "S7: still open");
            eq(DevToken(handler.token(t)).balanceOf(address(place)), handler.owed(place, t), "S7: all is accounted for");
        }
    }

    function S9_everyOrderUsesItsNonce() private view {
        uint256 count = handler.count();
        for (uint256 n; n < count; ++n) {
            (StandardOrder memory a, Model.Tracked memory x) = handler.orderAt(n);
            if (x.seen == 0 || !x.byUser) continue;
            ok(handler.places()[0].isNonceUsed(a.user, a.nonce), "S9: an order left its nonce unused");
        }
    }

    function S10_allSlicesOrNone() private view {
        for (uint256 n; n < handler.count(); ++n) {
            (StandardOrder memory order, Model.Tracked memory o) = handler.orderAt(n);
            if (o.seen != 2) continue;
            for (uint256 i; i < order.outputs.length; ++i) {
                ok(o.filledAt[i] != 0, "S10: a slice is missing");
            }
            for (uint256 j; j < order.inputs.length; ++j) {
                uint256 t = order.inputs[j][0] == uint160(handler.token(0)) ? 0 : 1;
                eq(o.paidOut[t], order.inputs[j][1], "S10: slices do not sum to the input");
            }
        }
    }

    function S12_noAllowanceNoNative() private view {
        IEscrow[2] memory places = handler.places();
        for (uint256 p; p < 2; ++p) {
            eq(address(places[p]).balance, 0, "S12: native dust");
            for (uint256 t; t < 2; ++t) {
                DevToken token = DevToken(handler.token(t));
                for (uint256 a; a < 9; ++a) {
                    eq(token.allowance(address(places[p]), handler.actor(a)), 0, "S12: allowance");
                }
                eq(token.allowance(address(places[p]), places[p].PERMIT2()), 0, "S12: allowance");
                eq(token.allowance(address(places[p]), address(places[1 - p])), 0, "S12: allowance");
            }
        }
    }

    /// @dev Whatever the oracle's owner does, proven is what the signers signed: not the same fill on another chain, of another
    /// application, of another order, nor a fill that was not attested.
    function S13_S14_onlyWhatWasAttested() private view {
        IAttestationOracle oracle = IAttestationOracle(handler.oracleOf());
        bytes32 there = bytes32(uint256(uint160(address(handler.places()[1]))));
        for (uint256 n; n < handler.count(); ++n) {
            (StandardOrder memory order, Model.Tracked memory o) = handler.orderAt(n);
            for (uint256 i; i < order.outputs.length; ++i) {
                bytes32 hash = handler.payloadHashAt(n, i);
                ok(oracle.isProven(31338, 0, there, hash) == o.proven[i], "S14: proven is what was attested");
                ok(!oracle.isProven(31337, 0, there, hash), "S14: another chain");
                ok(!oracle.isProven(31338, 0, bytes32(uint256(1)), hash), "S14: another application");
            }
        }
    }

    /// @dev Ledger entries, open inputs and donations are what the escrows hold, to the unit.
    function everythingHeldIsOwed() private view {
        IEscrow[2] memory places = handler.places();
        for (uint256 p; p < 2; ++p) {
            for (uint256 t; t < 2; ++t) {
                eq(
                    DevToken(handler.token(t)).balanceOf(address(places[p])),
                    handler.owed(places[p], t),
                    "ledger + open inputs + donations"
                );
            }
        }
    }

    /// @dev Each deferral is there until it is paid or kept, with the moment it got at its delivery, and their sum is what the
    /// escrow says of the account: no other step touches either.
    function deferralsAreRemembered() private view {
        for (uint256 n; n < handler.count(); ++n) {
            (StandardOrder memory order, Model.Tracked memory o) = handler.orderAt(n);
            for (uint256 i; i < order.outputs.length; ++i) {
                IEscrow place = handler.places()[order.outputs[i].chainId == 31337 ? 0 : 1];
                bytes32 hash = keccak256(abi.encode(order.outputs[i]));
                eq(place.deferredUntil(o.id, hash), o.deferredUntil[i], "a deferral's moment");
            }
        }
        for (uint256 a; a < 7; ++a) {
            for (uint256 t; t < 2; ++t) {
                IEscrow[2] memory places = handler.places();
                for (uint256 p; p < 2; ++p) {
                    uint256 sum = places[p].deferredOf(handler.actor(a), handler.token(t));
                    eq(sum, handler.deferredSum(address(places[p]), a, t), "what is deferred in all");
                }
            }
        }
    }

    /// @dev Beside each balance is what its trades owe the fee recipient, until somebody collects it.
    function feesAreKept() private view {
        for (uint256 a; a < 9; ++a) {
            for (uint256 t; t < 2; ++t) {
                uint256 kept = handler.places()[0].feesOf(handler.actor(a), handler.token(t));
                eq(kept, handler.feesDue(a, t), "fees beside a balance");
            }
        }
    }

    /// @dev In no window did an operator spend more than the largest limit that was in force while it ran.
    function operatorsKeepToTheirLimits() private view {
        IEscrow[2] memory places = handler.places();
        for (uint256 p; p < 2; ++p) {
            for (uint256 i; i < 3; ++i) {
                for (uint256 t; t < 2; ++t) {
                    (bool limited, Model.Allowance memory l) = handler.allowanceAt(places[p], i, t);
                    (bool now_, uint256 most, uint256 window, uint256 since, uint256 spent) =
                        places[p].operatorLimit(handler.actor(2 + i), handler.operatorAt(i), handler.token(t));
                    ok(now_ == limited && most == l.most && window == l.window, "the limit is what was set");
                    ok(since == l.since && spent == l.spent, "what is counted is what was spent");
                    vm.assertLe(spent, l.peak, "more than the limit in a window");
                }
            }
        }
    }

    function none(string memory text, string memory what) private pure {
        ok(bytes(text).length == 0, string(abi.encodePacked(what, text)));
    }
}
