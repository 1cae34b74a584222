// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {Commitment, IEscrow, StandardOrder} from "../../src/interfaces/IEscrow.sol";
import {Fade, IQuoteBond} from "../../src/interfaces/IQuoteBond.sol";
import {BondBase} from "../support/BondBase.sol";

/// @notice claimUnfilled: an order across chains that was opened in time and refunded.
contract QuoteBondCrossTest is BondBase {
    uint256 internal constant PAID = IN * SHARE / 10_000;

    function setUp() public override {
        super.setUp();
        setTerms(lp(0), FILL_WINDOW, true);
    }

    /// @dev Opened the fill window before its deadline.
    function opened() internal returns (StandardOrder memory order) {
        order = cross();
        vm.warp(order.fillDeadline - FILL_WINDOW);
        openOrder(order);
    }

    function expectPaid(StandardOrder memory order) internal {
        vm.expectEmit(true, true, true, true, address(bond));
        emit IQuoteBond.Faded(
            lp(0), taker, idOf(order), keccak256("quote"), Fade.Unfilled, address(usd), IN, PAID, PAID
        );
        uint256 before = usd.balanceOf(taker);
        eq(claimUnfilled(order)[0], PAID, "paid");
        eq(usd.balanceOf(taker) - before, PAID, "to the taker");
    }

    function test_pays_with_the_refund() public {
        StandardOrder memory order = opened();
        eq(escrow.openedAt(idOf(order)), order.fillDeadline - FILL_WINDOW, "the escrow records when");
        vm.warp(order.expires + 1);
        uint256 before = usd.balanceOf(taker);
        eq(claimUnfilled(order)[0], PAID, "paid");
        eq(usd.balanceOf(taker) - before, IN + PAID, "refunded and paid");
        eq(bonded(lp(0), address(usd)), 50_000e6 - 2 * PAID, "out of the bond");
        eq(bond.owed(forfeitTo, address(usd)), PAID, "forfeited");
        eq(escrow.openedAt(idOf(order)), order.fillDeadline - FILL_WINDOW, "kept");
        refuseUnfilled(
            order, abi.encodeWithSelector(IQuoteBond.ClaimedBefore.selector, taker, order.nonce, lp(0))
        );
    }

    function test_pays_after_a_refund_and_after_a_release() public {
        StandardOrder memory order = opened();
        vm.warp(order.expires + 1);
        escrow.refund(order);
        expectPaid(order);
        order = opened();
        bytes[] memory signatures = new bytes[](1);
        signatures[0] = releaseSignature(idOf(order), OPERATOR);
        escrow.release(order, signatures);
        expectPaid(order);
    }

    function test_not_before_expires() public {
        StandardOrder memory order = opened();
        vm.warp(order.expires);
        Commitment memory commitment = commitments(order)[0];
        vm.expectRevert();
        bond.claimUnfilled(order, commitment);
    }

    function test_an_operator_revoked_since_was_one_when_it_signed() public {
        StandardOrder memory order = opened();
        vm.prank(lp(0));
        escrow.setOperator(operator(0), false);
        vm.warp(order.expires + 1);
        escrow.refund(order);
        expectPaid(order);
    }

    function test_a_taker_that_opens_late_is_no_fault() public {
        StandardOrder memory order = cross();
        vm.warp(order.fillDeadline - FILL_WINDOW + 1);
        openOrder(order);
        vm.warp(order.expires + 1);
        refuseUnfilled(order, about(IQuoteBond.NotCovered.selector, lp(0)));
    }

    function test_an_order_that_was_never_opened_or_was_paid_is_none() public {
        StandardOrder memory order = cross();
        vm.warp(order.expires + 1);
        refuseUnfilled(order, about(IQuoteBond.OrderEnded.selector, idOf(order)));

        order = opened();
        bytes32 orderId = idOf(order);
        vm.chainId(THERE);
        vm.prank(operator(0));
        remote.fill(orderId, order.outputs[0], order.fillDeadline, fillerData(lp(0)));
        vm.chainId(HERE);
        attest(hashes.payloadHash(word(lp(0)), orderId, uint32(block.timestamp), order.outputs[0]));
        escrow.finalise(order, solves(lp(0), block.timestamp), 0, "");
        vm.warp(order.expires + 1);
        refuseUnfilled(order, about(IQuoteBond.OrderEnded.selector, orderId));
    }

    function test_a_fill_proven_late_and_before_the_claim_is_finalised() public {
        StandardOrder memory order = opened();
        bytes32 orderId = idOf(order);
        uint256 filledAt = block.timestamp;
        vm.chainId(THERE);
        vm.prank(operator(0));
        remote.fill(orderId, order.outputs[0], order.fillDeadline, fillerData(lp(0)));
        vm.chainId(HERE);
        vm.warp(order.expires + 1);
        attest(hashes.payloadHash(word(lp(0)), orderId, uint32(filledAt), order.outputs[0]));
        escrow.finalise(order, solves(lp(0), filledAt), 0, "");
        refuseUnfilled(order, about(IQuoteBond.OrderEnded.selector, orderId));
    }

    function test_a_recipient_that_refuses_is_no_fault() public {
        StandardOrder memory order = cross();
        order.outputs[0].callbackData = hex"01";
        openOrder(order);
        vm.warp(order.expires + 1);
        refuseUnfilled(order, about(IQuoteBond.NotCovered.selector, lp(0)));
    }

    function test_wallets_only_when_the_lp_says_so() public {
        setTerms(lp(0), FILL_WINDOW, false);
        vm.warp(block.timestamp + TAKE_BACK);
        StandardOrder memory order = opened();
        vm.warp(order.expires + 1);
        refuseUnfilled(order, about(IQuoteBond.NotCovered.selector, lp(0)));
        order = cross();
        intoLedger(order, false, taker);
        openOrder(order);
        vm.warp(order.expires + 1);
        escrow.refund(order);
        expectPaid(order);
    }

    function test_no_terms_no_cover() public {
        StandardOrder memory order = cross();
        order.outputs[0].context = quoteContext(lp(1), order.fillDeadline, 10_000, FEE, RELAY);
        openOrder(order);
        vm.warp(order.expires + 1);
        refuseUnfilled(order, about(IQuoteBond.NotCovered.selector, lp(1)));
    }

    function test_a_split_is_not_covered_where_another_may_have_failed() public {
        StandardOrder memory order = split(IN, OUT);
        order.inputOracle = address(oracle);
        for (uint256 i; i < 3; ++i) {
            order.outputs[i].oracle = word(address(oracle));
            order.outputs[i].settler = word(address(remote));
            order.outputs[i].chainId = THERE;
        }
        openOrder(order);
        vm.warp(order.expires + 1);
        refuseUnfilled(order, about(IQuoteBond.WrongOrder.selector, idOf(order)));
    }

    function test_naming_an_lp_is_not_enough() public {
        StandardOrder memory order = opened();
        vm.warp(order.expires + 1);
        Commitment memory commitment = commitments(order)[0];
        commitment.signature = sign(STRANGER, commitmentDigest(idOf(order), commitment));
        vm.expectRevert(about(IQuoteBond.NotCommitted.selector, lp(0)));
        bond.claimUnfilled(order, commitment);
        // Somebody else's commitment to the LP's output.
        setTerms(lp(1), FILL_WINDOW, true);
        commitment.lp = lp(1);
        commitment.signature = sign(OPERATOR + 16, commitmentDigest(idOf(order), commitment));
        vm.expectRevert(about(IQuoteBond.NotCommitted.selector, lp(1)));
        bond.claimUnfilled(order, commitment);
    }

    function test_not_for_an_order_of_one_chain_or_of_another_origin() public {
        StandardOrder memory order = simple();
        refuseUnfilled(order, about(IQuoteBond.WrongOrder.selector, idOf(order)));
        order = cross();
        order.originChainId = THERE;
        refuseUnfilled(order, about(IQuoteBond.WrongOrder.selector, idOf(order)));
        order = toOpen(plain());
        openOrder(order);
        vm.warp(order.expires + 1);
        Commitment memory commitment;
        vm.expectRevert(about(IQuoteBond.NotCommitted.selector, address(0)));
        bond.claimUnfilled(order, commitment);
    }

    function test_each_input_pays_from_the_bond_in_its_token() public {
        StandardOrder memory order = cross();
        order.inputs = new uint256[2][](2);
        order.inputs[0] = [uint256(uint160(address(usd))), IN];
        order.inputs[1] = [uint256(uint160(address(weth))), 2 * OUT];
        vm.startPrank(taker);
        usd.approve(address(escrow), IN);
        weth.approve(address(escrow), 2 * OUT);
        escrow.open(order);
        vm.stopPrank();
        vm.warp(order.expires + 1);
        uint256 snapshot = vm.snapshotState();
        uint256[] memory paid = claimUnfilled(order);
        ok(paid[0] == PAID && paid[1] == 2 * OUT * SHARE / 10_000, "both");
        vm.revertToState(snapshot);
        vm.prank(lp(0));
        bond.requestTakeBack(address(usd), 50_000e6);
        vm.warp(block.timestamp + TAKE_BACK);
        vm.prank(lp(0));
        bond.takeBack(address(usd), lp(0));
        snapshot = vm.snapshotState();
        paid = claimUnfilled(order);
        ok(paid[0] == 0 && paid[1] == 2 * OUT * SHARE / 10_000, "what there is");
        vm.revertToState(snapshot);
        vm.prank(lp(0));
        bond.requestTakeBack(address(weth), 10e18);
        vm.warp(block.timestamp + TAKE_BACK);
        vm.prank(lp(0));
        bond.takeBack(address(weth), lp(0));
        refuseUnfilled(order, about(IQuoteBond.NothingToPay.selector, lp(0)));
    }

    /// @dev N04: what no escrow delivers on the other chain is no promise either.
    function test_an_output_that_nobody_can_deliver_is_not_covered() public {
        bytes[4] memory bad = [
            abi.encodePacked(hex"0100"),
            abi.encodePacked(hex"0200", taker),
            abi.encodePacked(hex"0102", taker),
            abi.encodePacked(hex"0100", address(0))
        ];
        for (uint256 i; i < bad.length; ++i) {
            StandardOrder memory order = cross();
            order.outputs[0].recipient = order.outputs[0].settler;
            order.outputs[0].callbackData = bad[i];
            _refuseWhenRefunded(order, about(IQuoteBond.NotCovered.selector, lp(0)));
        }
        StandardOrder memory other = cross();
        other.outputs[0].recipient = bytes32(type(uint256).max);
        _refuseWhenRefunded(other, about(IEscrow.NotAnAddress.selector, bytes32(type(uint256).max)));
        other = cross();
        other.outputs[0].token = 0;
        _refuseWhenRefunded(other, about(IEscrow.NotAnAddress.selector, bytes32(0)));
    }

    function _refuseWhenRefunded(StandardOrder memory order, bytes memory reason) private {
        uint256 snapshot = vm.snapshotState();
        openOrder(order);
        vm.warp(uint256(order.expires) + 1);
        refuseUnfilled(order, reason);
        vm.revertToState(snapshot);
    }

    /// @dev N01: an LP that pays for an order in a taker's name would use that taker's claim up.
    function test_nobody_but_the_user_uses_a_claim_up() public {
        StandardOrder memory order = cross();
        StandardOrder memory fake = cross();
        fake.nonce = order.nonce;
        fake.inputs[0][1] = 1e6;
        usd.mint(lp(0), 1e6);
        bytes memory funding = byOrder3009(fake, LP);
        vm.prank(lp(0));
        vm.expectRevert(about(IEscrow.NotTheUser.selector, lp(0)));
        escrow.openFor(fake, lp(0), funding);
        openOrder(order);
        vm.warp(uint256(order.expires) + 1);
        escrow.refund(order);
        expectPaid(order);
    }
}
