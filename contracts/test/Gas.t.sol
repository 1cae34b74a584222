// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {ERC1967Proxy} from "@openzeppelin/contracts/proxy/ERC1967/ERC1967Proxy.sol";

import {IERC20} from "@openzeppelin/contracts/token/ERC20/IERC20.sol";

import {Batch} from "../src/Batch.sol";
import {DevPsm} from "../src/devnet/DevPsm.sol";
import {DevToken} from "../src/devnet/DevToken.sol";
import {DevVault} from "../src/devnet/DevVault.sol";
import {OneForOneFiller} from "../src/fillers/OneForOneFiller.sol";
import {PegFiller} from "../src/fillers/PegFiller.sol";
import {VaultFiller} from "../src/fillers/VaultFiller.sol";
import {Approval, Commitment, IEscrow, StandardOrder} from "../src/interfaces/IEscrow.sol";
import {IPsm} from "../src/interfaces/IIssuers.sol";
import {OrderLib} from "../src/libraries/OrderLib.sol";
import {DevUsd} from "../src/devnet/DevUsd.sol";
import {Base} from "./support/Base.sol";

/// @notice What a transaction costs its sender, as a receipt would say: each measured call is a transaction of its own (isolate),
/// with the 21,000, its calldata, every account and slot cold, refunds taken off. The state is that of a running venue: LPs and
/// the fee recipient have ledger balances in both tokens, the taker and the recipient hold them before and after. Commitments are
/// signed by operators. "First trade": the nonce is the first of its word in the taker's bitmap. "Later trade": the word has bits
/// already, as with the nonces that the venue gives out. "Plain token": DevUsd. "Token behind a proxy": DevUsd behind an
/// ERC-1967 proxy, as USDC is.
contract GasTest is Base {
    bool internal proxied;

    function setUp() public override {
        super.setUp();
        settle(simple());
    }

    function measure(string memory name, address from, bytes memory data) internal returns (uint256 total) {
        vm.prank(from);
        (bool success,) = address(escrow).call(data);
        total = vm.lastCallGas().gasTotalUsed;
        ok(success, name);
        vm.snapshotValue(name, total);
    }

    /// @dev Of a call that takes a taker's input and nonce.
    function trade(string memory name, bytes memory data) internal returns (uint256) {
        string memory which = nonceWord == 0 ? ", first trade" : ", later trade";
        return measure(string.concat(name, proxied ? ", token behind a proxy" : ", plain token", which), stranger, data);
    }

    /// @dev From now on the taker's nonces are of one word, which Permit2 has seen as well.
    function later() internal {
        nonceWord = uint256(keccak256("a word")) >> 8;
        StandardOrder memory order = simple();
        bytes memory funding = byInline(order, block.timestamp + 60);
        escrow.settle(order, funding, commitments(order));
    }

    function settled(StandardOrder memory order, bytes memory funding) internal view returns (bytes memory) {
        return abi.encodeCall(escrow.settle, (order, funding, commitments(order)));
    }

    function measureEip3009() internal returns (uint256) {
        StandardOrder memory order = simple();
        return trade("settle, one output, EIP-3009", settled(order, by3009(order)));
    }

    function measureGrant() internal returns (uint256) {
        StandardOrder memory order = simple();
        return trade("settle, one output, standing Permit2 grant", settled(order, byGrant(order)));
    }

    function measureInline() internal {
        StandardOrder memory order = simple();
        trade("settle, one output, inline Permit2", settled(order, byInline(order, block.timestamp + 60)));
    }

    function measureLedger() internal returns (uint256) {
        StandardOrder memory order = simple();
        return trade("settle, one output, ledger", settled(order, byLedger(order)));
    }

    /// forge-config: default.isolate = true
    function test_settle_eip3009() public {
        vm.assertLe(measureEip3009(), 195_000, "gas target");
        later();
        vm.assertLe(measureEip3009(), 178_000, "gas target");
    }

    /// @dev The operator signed the root above 16 quotes. A step costs a hash and 32 bytes of calldata.
    /// forge-config: default.isolate = true
    function test_settle_of_a_tree() public {
        later();
        StandardOrder memory order = simple();
        Commitment[] memory list = commitments(order);
        bytes32 node = commitmentDigest(idOf(order), list[0]);
        bytes memory proof;
        for (uint256 i; i < 4; ++i) {
            bytes32 sibling = keccak256(abi.encode("sibling", i));
            proof = abi.encodePacked(proof, sibling);
            node = keccak256(node < sibling ? abi.encode(node, sibling) : abi.encode(sibling, node));
        }
        bytes32 structHash = keccak256(abi.encode(OrderLib.QUOTE_TREE_TYPEHASH, node));
        list[0].signature = abi.encodePacked(sign(OPERATOR, typed(address(escrow), structHash)), proof);
        bytes memory data = abi.encodeCall(escrow.settle, (order, by3009(order), list));
        trade("settle, one output, signed with 15 others, EIP-3009", data);
    }

    /// forge-config: default.isolate = true
    function test_settle_with_a_limit() public {
        later();
        uint256 without = measureEip3009();
        vm.prank(lp(0));
        escrow.limitOperator(operator(0), address(weth), 1000e18, 1 hours);
        settle(simple());
        StandardOrder memory order = simple();
        uint256 limited = trade("settle, operator with a limit, one output, EIP-3009", settled(order, by3009(order)));
        vm.assertLe(limited - without, 5_700, "gas target");
    }

    /// forge-config: default.isolate = true
    function test_settle_split_eip3009() public {
        StandardOrder memory order = split(IN, OUT);
        trade("settle, three outputs, EIP-3009", settled(order, by3009(order)));
        later();
        order = split(IN, OUT);
        trade("settle, three outputs, EIP-3009", settled(order, by3009(order)));
    }

    /// forge-config: default.isolate = true
    function test_settle_grant() public {
        grant(address(usd), type(uint160).max);
        measureGrant();
        later();
        vm.assertLe(measureGrant(), 155_000, "gas target");
    }

    /// forge-config: default.isolate = true
    function test_settle_inline() public {
        measureInline();
        later();
        measureInline();
    }

    /// forge-config: default.isolate = true
    function test_settle_ledger() public {
        depositTaker(address(usd), 3 * IN);
        measureLedger();
        later();
        vm.assertLe(measureLedger(), 134_000, "gas target");
    }

    /// forge-config: default.isolate = true
    function test_settle_behind_a_proxy() public {
        proxied = true;
        usd = DevUsd(address(new ERC1967Proxy(address(usd), abi.encodeCall(usd.version, ()))));
        fundLp(lp(0), address(usd), 1_000_000e6);
        usd.mint(taker, 1_000_000e6);
        vm.prank(taker);
        usd.approve(address(permit2), type(uint256).max);
        grant(address(usd), type(uint160).max);
        settle(simple());
        measureEip3009();
        measureGrant();
        later();
        measureEip3009();
        measureGrant();
    }

    /// forge-config: default.isolate = true
    function test_settle_into_the_ledger() public {
        depositTaker(address(weth), 1);
        StandardOrder memory order = simple();
        intoLedger(order, false, taker);
        trade("settle, one output into the ledger, EIP-3009", settled(order, by3009(order)));
        order = simple();
        intoLedger(order, true, taker);
        trade("settle, one output into the ledger to be withdrawn, EIP-3009", settled(order, by3009(order)));
        vm.warp(block.timestamp + DELAY);
        bytes memory data = abi.encodeCall(escrow.withdrawDeferred, (idOf(order), order.outputs[0]));
        measure("withdrawDeferred", stranger, data);
    }

    /// forge-config: default.isolate = true
    function test_cross_chain() public {
        StandardOrder memory order = cross();
        bytes32 orderId = idOf(order);
        trade("openFor, EIP-3009", abi.encodeCall(escrow.openFor, (order, taker, by3009(order))));
        vm.chainId(THERE);
        IEscrow origin = escrow;
        escrow = remote;
        bytes memory data =
            abi.encodeCall(remote.fill, (orderId, order.outputs[0], order.fillDeadline, fillerData(lp(0))));
        measure("fill from the ledger", operator(0), data);
        escrow = origin;
        vm.chainId(HERE);
        bytes32 payload = hashes.payloadHash(word(lp(0)), orderId, uint32(block.timestamp), order.outputs[0]);
        attest(payload);
        vm.snapshotValue("attest, two signatures", vm.lastCallGas().gasTotalUsed);
        data = abi.encodeCall(escrow.finalise, (order, solves(lp(0), block.timestamp), bytes32(0), ""));
        measure("finalise", stranger, data);
    }

    /// forge-config: default.isolate = true
    function test_cross_chain_in_three() public {
        later();
        StandardOrder memory order = cross();
        bytes32 orderId = idOf(order);
        bytes memory funding = by3009(order);
        vm.prank(stranger);
        escrow.openFor(order, order.user, funding);
        uint256 total = vm.lastCallGas().gasTotalUsed;
        vm.chainId(THERE);
        vm.prank(operator(0));
        remote.fill(orderId, order.outputs[0], order.fillDeadline, fillerData(lp(0)));
        total += vm.lastCallGas().gasTotalUsed;
        vm.chainId(HERE);
        bytes32[] memory payloads = new bytes32[](1);
        payloads[0] = hashes.payloadHash(word(lp(0)), orderId, uint32(block.timestamp), order.outputs[0]);
        bytes[] memory calls = new bytes[](1);
        calls[0] = abi.encodeCall(escrow.finalise, (order, solves(lp(0), block.timestamp), bytes32(0), ""));
        bytes[] memory signatures = compact(attestations(THERE, address(remote), payloads[0], 2));
        vm.prank(stranger);
        oracle.submitAndFinalise(THERE, word(address(remote)), payloads, signatures, address(escrow), calls);
        vm.snapshotValue("attest and finalise in one, two signatures", vm.lastCallGas().gasTotalUsed);
        total += vm.lastCallGas().gasTotalUsed;
        vm.snapshotValue("across chains in all, EIP-3009, plain token, later trade", total);
        vm.assertLe(total, 300_000, "gas target");
        eq(status(orderId), 2, "claimed");
    }

    struct Ten {
        Batch.Call[] opens;
        Batch.Call[] fills;
        bytes32[] payloads;
        bytes[] finals;
    }

    /// @dev Ten takers' orders: opened together, delivered together by the LP's approvals, proven by one list.
    /// forge-config: default.isolate = true
    function test_cross_chain_in_batches() public {
        later();
        Ten memory t = Ten(new Batch.Call[](10), new Batch.Call[](10), new bytes32[](10), new bytes[](10));
        for (uint256 i; i < 10; ++i) {
            addOrder(t, i);
        }
        uint256 opened = runAll(new Batch(address(escrow)), t.opens);
        vm.snapshotValue("openFor in a batch, EIP-3009, plain token, later trade, each of 10", opened);
        vm.chainId(THERE);
        uint256 filled = runAll(new Batch(address(remote)), t.fills);
        vm.snapshotValue("fill by approval in a batch, each of 10", filled);
        vm.chainId(HERE);
        bytes[] memory signatures = compact(listAttestations(address(remote), t.payloads));
        vm.prank(stranger);
        uint256 failed = oracle.submitAndFinalise(
            THERE, word(address(remote)), t.payloads, signatures, address(escrow), t.finals
        );
        uint256 proved = vm.lastCallGas().gasTotalUsed / 10;
        eq(failed, 0, "all finalised");
        vm.snapshotValue("attest and finalise in one, two signatures, each of 10", proved);
        uint256 total = opened + filled + proved;
        vm.snapshotValue("across chains in all, EIP-3009, plain token, later trade, each of 10", total);
        vm.assertLe(total, 230_000, "gas target");
    }

    function addOrder(Ten memory t, uint256 i) internal {
        StandardOrder memory order = cross();
        bytes32 orderId = idOf(order);
        t.opens[i] = Batch.Call(300_000, abi.encodeCall(escrow.openFor, (order, taker, by3009(order))));
        Approval[] memory approvals = new Approval[](1);
        vm.chainId(THERE);
        approvals[0] = approvalFor(remote, orderId, order.outputs[0], order.fillDeadline, OPERATOR);
        vm.chainId(HERE);
        bytes memory fill =
            abi.encodeCall(remote.fillWithApprovals, (orderId, order.outputs, order.fillDeadline, approvals));
        t.fills[i] = Batch.Call(300_000, fill);
        t.payloads[i] = hashes.payloadHash(word(lp(0)), orderId, uint32(block.timestamp), order.outputs[0]);
        t.finals[i] = abi.encodeCall(escrow.finalise, (order, solves(lp(0), block.timestamp), bytes32(0), ""));
    }

    /// @return each What one of the calls took.
    function runAll(Batch batch, Batch.Call[] memory calls) internal returns (uint256 each) {
        vm.prank(stranger);
        (uint256 failed,) = batch.run(calls);
        each = vm.lastCallGas().gasTotalUsed / calls.length;
        eq(failed, 0, "all succeed");
    }

    /// forge-config: default.isolate = true
    function test_refund() public {
        StandardOrder memory order = cross();
        openOrder(order);
        vm.warp(uint256(order.expires) + 1);
        measure("refund", stranger, abi.encodeCall(escrow.refund, (order)));
    }

    /// forge-config: default.isolate = true
    function test_later_opening() public {
        later();
        StandardOrder memory order = cross();
        trade("openFor, EIP-3009", abi.encodeCall(escrow.openFor, (order, taker, by3009(order))));
    }

    /// forge-config: default.isolate = true
    function test_settle_in_batches() public {
        measureBatches("first trades");
        later();
        measureBatches("later trades");
    }

    /// forge-config: default.isolate = true
    function test_settle_through_issuers() public {
        later();
        DevVault vault = new DevVault(IERC20(address(usd)), "Savings USD", "sUSD");
        usd.mint(address(this), IN);
        usd.approve(address(vault), IN);
        vault.deposit(IN, recipient);
        DevToken dai = new DevToken("Dai", "DAI", 18);
        DevPsm psm = new DevPsm(address(usd), address(dai));
        dai.mint(address(psm), 1e24);
        dai.mint(recipient, 1);
        through("vault deposit", new VaultFiller(escrow), address(vault));
        through("peg-stability module", new PegFiller(escrow, IPsm(address(psm))), address(dai));
    }

    function through(string memory name, OneForOneFiller filler, address tokenOut) internal {
        StandardOrder memory order = through(address(filler));
        order.outputs[0].token = bytes32(uint256(uint160(tokenOut)));
        order.outputs[0].amount = 1e9;
        bytes memory data = abi.encodeCall(escrow.settleThrough, (order, by3009(order), address(filler), ""));
        trade(string.concat("settleThrough, ", name, ", EIP-3009"), data);
    }

    function measureBatches(string memory which) internal {
        Batch batch = new Batch(address(escrow));
        uint256[3] memory sizes = [uint256(2), 8, 32];
        string[3] memory names = ["each of 2, ", "each of 8, ", "each of 32, "];
        for (uint256 k; k < sizes.length; ++k) {
            Batch.Call[] memory calls = new Batch.Call[](sizes[k]);
            for (uint256 i; i < calls.length; ++i) {
                StandardOrder memory order = simple();
                calls[i] = Batch.Call(300_000, settled(order, by3009(order)));
            }
            vm.prank(stranger);
            (uint256 failed,) = batch.run(calls);
            uint256 total = vm.lastCallGas().gasTotalUsed;
            eq(failed, 0, "all settle");
            string memory name = string.concat("settle in a batch, one output, EIP-3009, ", names[k], which);
            vm.snapshotValue(name, total / sizes[k]);
        }
    }
}
