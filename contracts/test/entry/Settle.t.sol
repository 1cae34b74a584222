// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {Commitment, IEscrow, MandateOutput, OrderStatus, StandardOrder} from "../../src/interfaces/IEscrow.sol";
import {DevToken} from "../../src/devnet/DevToken.sol";
import {IOutputCallback} from "../../src/interfaces/ICallbacks.sol";
import {Puppet} from "../mocks/Puppet.sol";
import {Base} from "../support/Base.sol";

contract Recipient is IOutputCallback {
    bytes32 public token;
    uint256 public amount;
    bytes public data;

    function outputFilled(bytes32 token_, uint256 amount_, bytes calldata data_) external {
        if (data_.length == 1) revert("no");
        (token, amount, data) = (token_, amount_, data_);
    }
}

/// @notice Keeps one unit of every transfer.
contract ShortToken is DevToken("Short", "SHORT", 18) {
    function _update(address from, address to, uint256 value) internal override {
        super._update(from, to, value);
        if (from != address(0) && value != 0) super._update(to, address(0xfee1), 1);
    }
}

contract SettleTest is Base {
    function refuse(StandardOrder memory order, bytes memory reason) internal {
        bytes memory funding = by3009(order);
        Commitment[] memory list = commitments(order);
        refuse(order, funding, list, reason);
    }

    function refuse(StandardOrder memory order, bytes memory funding, Commitment[] memory list, bytes memory reason)
        internal
    {
        vm.prank(stranger);
        vm.expectRevert(reason);
        escrow.settle(order, funding, list);
    }

    /// @dev Until they are collected, the fees on an LP's inputs lie in the same word as its balance.
    function test_an_lp_pays_nothing_out_of_the_fees_beside_its_balance() public {
        settle(simple());
        ok(escrow.feesOf(lp(0), address(usd)) != 0, "fees");
        uint256 own = escrow.balanceOf(lp(0), address(usd));
        StandardOrder memory order = simple(IN, own + 1);
        order.outputs[0].token = word(address(usd));
        refuse(
            order,
            abi.encodeWithSelector(IEscrow.InsufficientBalance.selector, lp(0), address(usd), own, own + 1)
        );
        order.outputs[0].amount = own;
        settle(order);
    }

    /* EFFECTS */

    function test_fuzz_settle(uint256 amountIn, uint256 amountOut, uint256 relay) public {
        amountIn = bound(amountIn, 1, 1_000_000e6);
        amountOut = bound(amountOut, 0, 1000e18);
        relay = bound(relay, 0, amountIn - amountIn * FEE / 10_000);
        StandardOrder memory order = simple(amountIn, amountOut);
        order.outputs[0].context = quoteContext(lp(0), order.fillDeadline, 10_000, FEE, uint128(relay));
        bytes32 orderId = idOf(order);

        settle(order);

        uint256 fee = feeOf(amountIn, relay);
        eq(usd.balanceOf(taker), 1_000_000e6 - amountIn, "taker pays the input");
        eq(weth.balanceOf(recipient), 1 + amountOut, "recipient gets the output");
        eq(escrow.balanceOf(lp(0), address(weth)), 1000e18 - amountOut, "LP pays the output");
        eq(escrow.balanceOf(lp(0), address(usd)), 1_000_000e6 + amountIn - fee, "LP gets the input less fees");
        eq(feesAt(escrow, address(usd)), fee, "fees");
        eq(usd.balanceOf(address(escrow)), 3_000_000e6 + amountIn, "held in");
        eq(weth.balanceOf(address(escrow)), 3000e18 - amountOut, "held out");
        eq(status(orderId), uint256(OrderStatus.Claimed), "claimed");
        ok(escrow.isNonceUsed(taker, order.nonce), "nonce");
    }

    function test_fuzz_settle_split(uint256 amountIn, uint256 amountOut) public {
        amountIn = bound(amountIn, 150_000, 1_000_000e6);
        amountOut = bound(amountOut, 10_000, 1000e18);
        StandardOrder memory order = split(amountIn, amountOut);
        settle(order);
        uint256[3] memory slices;
        slices[0] = amountIn * 5000 / 10_000;
        slices[1] = amountIn * 3333 / 10_000;
        slices[2] = amountIn - slices[0] - slices[1];
        uint256 fees;
        for (uint256 i; i < 3; ++i) {
            uint256 fee = feeOf(slices[i], i == 0 ? RELAY : 0);
            fees += fee;
            eq(escrow.balanceOf(lp(i), address(usd)), 1_000_000e6 + slices[i] - fee, "slice");
            eq(escrow.balanceOf(lp(i), address(weth)), 1000e18 - order.outputs[i].amount, "paid");
        }
        eq(feesAt(escrow, address(usd)), fees, "fees");
        eq(weth.balanceOf(recipient), 1 + total(order), "delivered");
    }

    function total(StandardOrder memory order) internal pure returns (uint256 sum) {
        for (uint256 i; i < order.outputs.length; ++i) {
            sum += order.outputs[i].amount;
        }
    }

    function test_settle_events() public {
        StandardOrder memory order = simple();
        bytes32 orderId = idOf(order);
        bytes memory funding = by3009(order);
        Commitment[] memory list = commitments(order);
        vm.expectEmit(true, true, true, true, address(escrow));
        emit IEscrow.Open(orderId, order);
        vm.expectEmit(true, true, true, true, address(escrow));
        emit IEscrow.OutputFilled(orderId, word(lp(0)), uint32(block.timestamp), order.outputs[0], OUT);
        vm.expectEmit(true, true, true, true, address(escrow));
        emit IEscrow.Finalised(orderId, word(lp(0)), word(lp(0)));
        escrow.settle(order, funding, list);
    }

    function test_settle_with_two_inputs_takes_the_relay_fee_of_the_first() public {
        StandardOrder memory order = simple();
        order.inputs = new uint256[2][](2);
        order.inputs[0] = [uint256(uint160(address(usd))), IN];
        order.inputs[1] = [uint256(uint160(address(weth))), 3e18];
        depositTaker(address(usd), IN);
        depositTaker(address(weth), 3e18);
        escrow.settle(order, byLedger(order), commitments(order));
        eq(feesAt(escrow, address(usd)), feeOf(IN, RELAY), "usd fee");
        eq(feesAt(escrow, address(weth)), feeOf(3e18, 0), "weth fee");
        eq(escrow.balanceOf(lp(0), address(weth)), 1000e18 - OUT + 3e18 - feeOf(3e18, 0), "weth credit");
        eq(escrow.balanceOf(taker, address(usd)), 0, "ledger");
    }

    function test_settle_calls_back() public {
        Recipient r = new Recipient();
        StandardOrder memory order = simple();
        order.outputs[0].recipient = word(address(r));
        order.outputs[0].callbackData = hex"c0ffee";
        settle(order);
        eq(r.token(), word(address(weth)), "token");
        eq(r.amount(), OUT, "amount");
        ok(keccak256(r.data()) == keccak256(hex"c0ffee"), "data");
    }

    /// @dev What arrived is measured before the recipient is told, who may pass it on at once.
    function test_settle_to_a_recipient_that_passes_it_on() public {
        Puppet mover = new Puppet();
        recipient = address(mover);
        mover.plan(address(weth), abi.encodeCall(weth.transfer, (stranger, OUT)));
        StandardOrder memory order = simple();
        order.outputs[0].callbackData = hex"01";
        settle(order);
        eq(weth.balanceOf(stranger), OUT, "passed on");
    }

    function test_settle_reverts_when_the_callback_does() public {
        Recipient r = new Recipient();
        StandardOrder memory order = simple();
        order.outputs[0].recipient = word(address(r));
        order.outputs[0].callbackData = hex"01";
        refuse(order, abi.encodeWithSignature("Error(string)", "no"));
    }

    function test_settle_by_the_lp_itself() public {
        StandardOrder memory order = simple();
        Commitment[] memory list = commitments(order);
        list[0].signature = sign(LP, commitmentDigest(idOf(order), list[0]));
        escrow.settle(order, by3009(order), list);
        eq(status(idOf(order)), 2, "claimed");
    }

    function test_settle_when_the_lp_is_the_taker() public {
        StandardOrder memory order = simple();
        depositTaker(address(usd), IN);
        depositTaker(address(weth), OUT);
        order.outputs[0].context = quoteContext(taker, order.fillDeadline, 10_000, FEE, RELAY);
        Commitment[] memory list = commitments(order);
        list[0].signature = sign(TAKER, commitmentDigest(idOf(order), list[0]));
        escrow.settle(order, byLedger(order), list);
        eq(escrow.balanceOf(taker, address(usd)), IN - feeOf(IN, RELAY), "back, less the fees");
        eq(escrow.balanceOf(taker, address(weth)), 0, "delivered");
    }

    function test_settle_one_lp_in_two_slices_by_one_commitment() public {
        StandardOrder memory order = split(IN, OUT);
        order.outputs[1].context = quoteContext(lp(0), order.fillDeadline, 3333, FEE, 0);
        settle(order);
        eq(
            escrow.balanceOf(lp(0), address(weth)),
            1000e18 - order.outputs[0].amount - order.outputs[1].amount,
            "pays both"
        );
    }

    function test_settle_in_the_last_second_and_not_after() public {
        StandardOrder memory order = simple();
        StandardOrder memory late = simple();
        bytes memory funding = by3009(late);
        Commitment[] memory list = commitments(late);
        vm.warp(order.fillDeadline);
        settle(order);
        vm.warp(late.fillDeadline + 1);
        refuse(late, funding, list, err(IEscrow.DeadlinePassed.selector, late.fillDeadline, block.timestamp));
    }

    /* REFUSALS: the order */

    function test_settle_refuses_another_chain() public {
        StandardOrder memory order = simple();
        order.originChainId = THERE;
        refuse(order, err(IEscrow.WrongChain.selector, THERE, HERE));
    }

    function test_settle_refuses_expiry_before_the_deadline() public {
        StandardOrder memory order = simple();
        order.expires = order.fillDeadline - 1;
        refuse(order, err(IEscrow.ProofWindowTooShort.selector, 0, 0));
    }

    function test_settle_refuses_users_that_cannot_be_refunded() public {
        StandardOrder memory order = simple();
        order.user = address(0);
        refuse(order, abi.encodeWithSelector(IEscrow.InvalidRecipient.selector, address(0)));
        order.user = address(escrow);
        refuse(order, abi.encodeWithSelector(IEscrow.InvalidRecipient.selector, address(escrow)));
    }

    function test_settle_refuses_inputs() public {
        StandardOrder memory order = simple();
        order.inputs[0][1] = 0;
        refuse(order, err(IEscrow.ZeroValue.selector));
        order.inputs[0] = [uint256(uint160(address(usd))) | 1 << 160, IN];
        refuse(order, abi.encodeWithSelector(IEscrow.NotAnAddress.selector, bytes32(order.inputs[0][0])));
        order.inputs[0] = [uint256(0), IN];
        refuse(order, abi.encodeWithSelector(IEscrow.NotAnAddress.selector, bytes32(0)));
        order.inputs[0] = [uint256(uint160(address(usd))), 1 << 128];
        refuse(order, err(IEscrow.AmountTooLarge.selector, 1 << 128));
        order.inputs[0][1] -= 1;
        depositTaker(address(usd), 1);
        refuse(
            order,
            byLedger(order),
            commitments(order),
            abi.encodeWithSelector(IEscrow.InsufficientBalance.selector, taker, address(usd), 1, (1 << 128) - 1)
        );
    }

    function test_settle_refuses_no_and_double_inputs() public {
        StandardOrder memory order = simple();
        bytes memory funding = by3009(order);
        Commitment[] memory list = commitments(order);
        order.inputs = new uint256[2][](0);
        refuse(order, funding, list, err(IEscrow.ZeroValue.selector));
        order.inputs = new uint256[2][](2);
        order.inputs[0] = [uint256(uint160(address(usd))), IN];
        order.inputs[1] = [uint256(uint160(address(usd))), IN + 1];
        refuse(order, funding, list, abi.encodeWithSelector(IEscrow.DuplicateInput.selector, address(usd)));
        order.inputs = new uint256[2][](3);
        order.inputs[0] = [uint256(uint160(address(usd))), IN];
        order.inputs[1] = [uint256(uint160(address(weth))), IN];
        order.inputs[2] = [uint256(uint160(address(weth))), IN];
        refuse(order, funding, list, abi.encodeWithSelector(IEscrow.DuplicateInput.selector, address(weth)));
    }

    function test_settle_refuses_no_and_double_outputs() public {
        StandardOrder memory order = split(IN, OUT);
        order.outputs[2] = order.outputs[0];
        refuse(order, duplicate(order.outputs[0]));
        order = split(IN, OUT);
        order.outputs[2] = order.outputs[1];
        refuse(order, duplicate(order.outputs[1]));
        bytes memory funding = by3009(order);
        order.outputs = new MandateOutput[](0);
        refuse(order, funding, new Commitment[](0), err(IEscrow.ZeroValue.selector));
    }

    function test_settle_refuses_long_callback_data() public {
        StandardOrder memory order = simple();
        Commitment[] memory list = commitments(order);
        bytes memory funding = by3009(order);
        order.outputs[0].callbackData = new bytes(65_536);
        refuse(order, funding, list, err(IEscrow.TooLong.selector, 65_536));
        order.outputs[0].callbackData = new bytes(65_535);
        ok(escrow.orderIdentifier(order) != 0, "the longest");
    }

    function test_settle_refuses_plain_orders() public {
        StandardOrder memory order = plain();
        refuse(order, by3009(order), new Commitment[](1), err(IEscrow.NotAQuote.selector));
    }

    function test_settle_refuses_contexts() public {
        StandardOrder memory order = simple();
        bytes memory context = order.outputs[0].context;
        Commitment[] memory list = commitments(order);
        bytes memory funding = by3009(order);
        order.outputs[0].context = abi.encodePacked(context, bytes1(0));
        refuse(
            order, funding, list, abi.encodeWithSelector(IEscrow.InvalidContext.selector, order.outputs[0].context)
        );
        context[0] = 0xe1;
        order.outputs[0].context = context;
        refuse(order, funding, list, abi.encodeWithSelector(IEscrow.InvalidContext.selector, context));
    }

    function test_settle_refuses_mixed_contexts() public {
        StandardOrder memory order = split(IN, OUT);
        Commitment[] memory list = commitments(order);
        bytes memory quote = order.outputs[1].context;
        order.outputs[1].context = "";
        refuse(order, by3009(order), list, err(IEscrow.MixedContexts.selector));
        order.outputs[1].context = quote;
        order.outputs[0].context = "";
        refuse(order, by3009(order), list, err(IEscrow.MixedContexts.selector));
    }

    function test_settle_refuses_dirty_and_zero_lps() public {
        StandardOrder memory order = simple();
        bytes32 dirty = word(lp(0)) | bytes32(uint256(1) << 160);
        bytes memory rest =
            abi.encodePacked(order.fillDeadline + 1, uint16(10_000), uint16(FEE), uint128(RELAY));
        order.outputs[0].context = abi.encodePacked(bytes1(0xe2), dirty, rest);
        refuse(order, abi.encodeWithSelector(IEscrow.NotAnAddress.selector, dirty));
        order.outputs[0].context = abi.encodePacked(bytes1(0xe2), bytes32(0), rest);
        refuse(order, abi.encodeWithSelector(IEscrow.NotAnAddress.selector, bytes32(0)));
    }

    function test_settle_refuses_start_times() public {
        StandardOrder memory order = simple();
        order.outputs[0].context = quoteContext(lp(0), order.fillDeadline - 1, 10_000, FEE, RELAY);
        refuse(order, err(IEscrow.WrongStartTime.selector, order.fillDeadline, order.fillDeadline));
        order.outputs[0].context = quoteContext(lp(0), order.fillDeadline + 1, 10_000, FEE, RELAY);
        refuse(order, err(IEscrow.WrongStartTime.selector, order.fillDeadline + 2, order.fillDeadline));
    }

    function test_settle_refuses_portions() public {
        StandardOrder memory order = simple();
        order.outputs[0].context = quoteContext(lp(0), order.fillDeadline, 9_999, FEE, RELAY);
        refuse(order, err(IEscrow.InvalidPortions.selector, 9_999));
        order.outputs[0].context = quoteContext(lp(0), order.fillDeadline, 10_001, FEE, RELAY);
        refuse(order, err(IEscrow.InvalidPortions.selector, 10_001));
        order = split(IN, OUT);
        order.outputs[1].context = quoteContext(lp(1), order.fillDeadline, 0, FEE, 0);
        refuse(order, err(IEscrow.InvalidPortions.selector, 0));
    }

    function test_settle_refuses_fees() public {
        StandardOrder memory order = simple();
        order.outputs[0].context = quoteContext(lp(0), order.fillDeadline, 10_000, uint16(MAX_FEE), RELAY);
        uint256 before = vm.snapshotState();
        settle(order);
        vm.revertToState(before);
        order.outputs[0].context = quoteContext(lp(0), order.fillDeadline, 10_000, uint16(MAX_FEE + 1), RELAY);
        refuse(order, err(IEscrow.InvalidFee.selector, MAX_FEE + 1));
        order = split(IN, OUT);
        order.outputs[2].context = quoteContext(lp(2), order.fillDeadline, 1667, FEE + 1, 0);
        refuse(order, err(IEscrow.InvalidFee.selector, FEE + 1));
    }

    function test_settle_refuses_fees_above_the_slice() public {
        StandardOrder memory order = simple(1000, OUT);
        order.outputs[0].context = quoteContext(lp(0), order.fillDeadline, 10_000, 0, 1001);
        refuse(order, err(IEscrow.FeesExceedSlice.selector, 1001, 1000));
        order.outputs[0].context = quoteContext(lp(0), order.fillDeadline, 10_000, 0, 1000);
        settle(order);
        eq(feesAt(escrow, address(usd)), 1000, "all of it");
    }

    function test_settle_refuses_outputs_it_cannot_deliver() public {
        StandardOrder memory order = simple();
        order.outputs[0].chainId = THERE;
        refuse(order, err(IEscrow.Unprovable.selector, 0));
        order = simple();
        order.outputs[0].settler = word(address(remote));
        refuse(order, err(IEscrow.Unprovable.selector, 0));
        order = simple();
        order.outputs[0].oracle = word(address(oracle));
        refuse(order, err(IEscrow.Unprovable.selector, 0));
    }

    function test_settle_refuses_tokens_and_recipients() public {
        StandardOrder memory order = simple();
        bytes32 dirty = word(address(weth)) | bytes32(uint256(1) << 255);
        order.outputs[0].token = dirty;
        refuse(order, abi.encodeWithSelector(IEscrow.NotAnAddress.selector, dirty));
        order = simple();
        dirty = word(recipient) | bytes32(uint256(1) << 161);
        order.outputs[0].recipient = dirty;
        refuse(order, abi.encodeWithSelector(IEscrow.NotAnAddress.selector, dirty));
        order.outputs[0].recipient = 0;
        refuse(order, abi.encodeWithSelector(IEscrow.NotAnAddress.selector, bytes32(0)));
        order.outputs[0].recipient = word(address(escrow));
        refuse(order, abi.encodeWithSelector(IEscrow.InvalidRecipient.selector, address(escrow)));
        order = simple(IN, 0);
        order.outputs[0].token = word(address(0xdead));
        refuse(order, abi.encodeWithSelector(IEscrow.NotAToken.selector, address(0xdead)));
    }

    function test_settle_refuses_what_arrives_short() public {
        ShortToken short = new ShortToken();
        short.mint(taker, IN);
        vm.prank(taker);
        short.approve(address(escrow), IN);
        StandardOrder memory order = simple();
        order.inputs[0][0] = uint160(address(short));
        Commitment[] memory list = commitments(order);
        vm.prank(taker);
        vm.expectRevert(abi.encodeWithSelector(IEscrow.ShortTransfer.selector, address(short), IN, IN - 1));
        escrow.settle(order, hex"ff", list);

        fundLp(lp(0), address(short), 2 * OUT);
        eq(escrow.balanceOf(lp(0), address(short)), 2 * OUT - 1, "credited net");
        order = simple();
        order.outputs[0].token = word(address(short));
        refuse(order, abi.encodeWithSelector(IEscrow.ShortTransfer.selector, address(short), OUT, OUT - 1));

        // What the escrow holds already does not make up for it.
        order = simple();
        order.inputs[0][0] = uint160(address(short));
        list = commitments(order);
        vm.prank(taker);
        short.approve(address(permit2), IN);
        grant(address(short), uint160(IN));
        bytes memory reason = abi.encodeWithSelector(IEscrow.ShortTransfer.selector, address(short), IN, IN - 1);
        refuse(order, byInline(order, order.fillDeadline), list, reason);
        refuse(order, byGrant(order), list, reason);
    }

    /* REFUSALS: commitments */

    function test_settle_refuses_other_numbers_of_commitments() public {
        StandardOrder memory order = simple();
        refuse(order, by3009(order), new Commitment[](0), err(IEscrow.LengthMismatch.selector, 1, 0));
        refuse(order, by3009(order), new Commitment[](2), err(IEscrow.LengthMismatch.selector, 1, 2));
    }

    function test_settle_refuses_the_commitment_of_another_lp() public {
        StandardOrder memory order = simple();
        Commitment[] memory list = commitments(order);
        list[0].lp = lp(1);
        refuse(
            order,
            by3009(order),
            list,
            abi.encodeWithSelector(IEscrow.WrongCommitment.selector, lp(1), order.fillDeadline)
        );
    }

    function test_settle_refuses_other_deadlines() public {
        StandardOrder memory order = simple();
        Commitment[] memory list = commitments(order);
        for (uint32 d = order.fillDeadline - 1; d <= order.fillDeadline + 1; d += 2) {
            list[0].deadline = d;
            list[0].signature = sign(LP, commitmentDigest(idOf(order), list[0]));
            refuse(
                order, by3009(order), list, abi.encodeWithSelector(IEscrow.WrongCommitment.selector, lp(0), d)
            );
        }
    }

    function test_settle_refuses_signatures_that_are_not_the_lps() public {
        StandardOrder memory order = simple();
        Commitment[] memory list = commitments(order);
        bytes32 digest = commitmentDigest(idOf(order), list[0]);
        bytes memory reason = abi.encodeWithSelector(IEscrow.InvalidSignature.selector, lp(0));
        list[0].signature = sign(STRANGER, digest);
        refuse(order, by3009(order), list, reason);
        list[0].signature = sign(OPERATOR + 16, digest);
        refuse(order, by3009(order), list, reason);
        list[0].signature = "";
        refuse(order, by3009(order), list, reason);
        list[0].signature = new bytes(65);
        refuse(order, by3009(order), list, reason);
        list[0].signature = sign(LP, digest);
        list[0].quoteId = keccak256("another quote");
        refuse(order, by3009(order), list, reason);
    }

    function test_settle_refuses_a_revoked_operator() public {
        StandardOrder memory order = simple();
        Commitment[] memory list = commitments(order);
        vm.prank(lp(0));
        escrow.setOperator(operator(0), false);
        refuse(order, by3009(order), list, abi.encodeWithSelector(IEscrow.InvalidSignature.selector, lp(0)));
    }

    function test_settle_refuses_what_the_lp_does_not_have() public {
        StandardOrder memory order = simple(IN, 1000e18 + 1);
        refuse(
            order,
            abi.encodeWithSelector(
                IEscrow.InsufficientBalance.selector, lp(0), address(weth), 1000e18, 1000e18 + 1
            )
        );
    }

    /* REFUSALS: state */

    function test_settle_only_once() public {
        StandardOrder memory order = simple();
        settle(order);
        refuse(
            order,
            abi.encodeWithSelector(IEscrow.InvalidOrderStatus.selector, idOf(order), OrderStatus.Claimed)
        );
    }

    function test_settle_refuses_used_nonces() public {
        StandardOrder memory order = simple();
        StandardOrder memory twin = simple(IN, OUT + 1);
        twin.nonce = order.nonce;
        settle(order);
        refuse(twin, abi.encodeWithSelector(IEscrow.NonceUsed.selector, taker, order.nonce));
        order = simple();
        vm.prank(taker);
        escrow.invalidateNonce(order.nonce);
        refuse(order, abi.encodeWithSelector(IEscrow.NonceUsed.selector, taker, order.nonce));
    }
}
