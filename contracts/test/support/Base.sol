// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {DevToken} from "../../src/devnet/DevToken.sol";
import {DevUsd} from "../../src/devnet/DevUsd.sol";
import {IAttestationOracle} from "../../src/interfaces/IAttestationOracle.sol";
import {
    Approval,
    Commitment,
    IEscrow,
    MandateOutput,
    OrderStatus,
    SolveParams,
    StandardOrder
} from "../../src/interfaces/IEscrow.sol";
import {IPermit2} from "../../src/interfaces/IPermit2.sol";
import {OrderLib} from "../../src/libraries/OrderLib.sol";
import {Hashes} from "./Hashes.sol";
import {Test} from "./Test.sol";

interface IDomain {
    function eip712Domain()
        external
        view
        returns (bytes1, string memory, string memory, uint256, address, bytes32, uint256[] memory);
}

/// @notice Two chains (31337 and 31338, switched with vm.chainId) with an escrow and an oracle each, Permit2 as deployed
/// everywhere, two tokens, a taker, three LPs with operators.
abstract contract Base is Test {
    uint256 internal constant TAKER = 0x7a6e;
    uint256 internal constant LP = 0x1001;
    uint256 internal constant OPERATOR = 0x1002;
    uint256 internal constant SIGNER = 0x5160;
    uint256 internal constant STRANGER = 0x57;
    uint256 internal constant HERE = 31337;
    uint256 internal constant THERE = 31338;
    uint256 internal constant MAX_FEE = 100;
    uint256 internal constant DELAY = 900;
    uint256 internal constant WINDOW = 1 days;
    uint256 internal constant PROOF = 1800;
    uint256 internal constant ROTATION = 2 days;
    uint256 internal constant START = 1_800_000_000;
    uint128 internal constant RELAY = 50_000;
    uint16 internal constant FEE = 2;
    uint256 internal constant IN = 2_500e6;
    uint256 internal constant OUT = 1e18;

    address internal taker = vm.addr(TAKER);
    address internal stranger = vm.addr(STRANGER);
    address internal feeRecipient = address(0xfee);
    address internal recipient = address(0xbeef);

    IEscrow internal escrow;
    IEscrow internal remote;
    IAttestationOracle internal oracle;
    IPermit2 internal permit2;
    DevUsd internal usd;
    DevToken internal weth;
    Hashes internal hashes;
    uint256 internal orders;
    /// @dev Orders take their nonces from this word when it is not 0, else each from a word of its own.
    uint256 internal nonceWord;

    function setUp() public virtual {
        vm.warp(START);
        vm.chainId(HERE);
        hashes = new Hashes();
        permit2 = deployPermit2();
        escrow = deployEscrow();
        remote = deployEscrow();
        address[] memory signers = sortedSigners();
        oracle = IAttestationOracle(
            vm.deployCode("AttestationOracle.sol:AttestationOracle", abi.encode(address(this), signers, 2, ROTATION))
        );
        usd = new DevUsd("USD Coin");
        weth = new DevToken("Wrapped Ether", "WETH", 18);
        for (uint256 i; i < 3; ++i) {
            fundLp(lp(i), address(weth), 1000e18);
            fundLp(lp(i), address(usd), 1_000_000e6);
            vm.prank(lp(i));
            escrow.setOperator(operator(i), true);
            vm.prank(lp(i));
            remote.setOperator(operator(i), true);
        }
        usd.mint(taker, 1_000_000e6);
        weth.mint(taker, 1000e18);
        weth.mint(recipient, 1);
        vm.startPrank(taker);
        usd.approve(address(permit2), type(uint256).max);
        weth.approve(address(permit2), type(uint256).max);
        vm.stopPrank();
    }

    /* DEPLOYMENT */

    function deployEscrow() internal returns (IEscrow) {
        return IEscrow(
            vm.deployCode(
                "Escrow.sol:Escrow", abi.encode(address(permit2), feeRecipient, MAX_FEE, DELAY, WINDOW, PROOF)
            )
        );
    }

    function deployPermit2() internal returns (IPermit2) {
        address place = 0x000000000022D473030F116dDEE9F6B43aC78BA3;
        address deployer = 0x4e59b44847b379578588920cA78FbF26c0B4956C;
        if (deployer.code.length == 0) {
            vm.etch(
                deployer,
                hex"7fffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffe03601600081602082378035828234f58015156039578182fd5b8082525050506014600cf3"
            );
        }
        bytes memory code = vm.readFileBinary(
            "node_modules/hardhat-predeploy/bin/0x000000000022D473030F116dDEE9F6B43aC78BA3.bytecode"
        );
        bytes32 salt = 0x0000000000000000000000000000000000000000d3af2663da51c10215000000;
        (bool success,) = deployer.call(abi.encodePacked(salt, code));
        ok(success && place.code.length != 0, "Permit2 at its address");
        return IPermit2(place);
    }

    function fundLp(address account, address token, uint256 amount) internal {
        DevToken(token).mint(address(this), 2 * amount);
        DevToken(token).approve(address(escrow), amount);
        escrow.depositFor(account, token, amount);
        DevToken(token).approve(address(remote), amount);
        remote.depositFor(account, token, amount);
    }

    /// @dev What the fee recipient has, and what it may collect from beside the LPs' balances.
    function feesAt(IEscrow place, address token) internal view returns (uint256 sum) {
        sum = place.balanceOf(feeRecipient, token);
        for (uint256 i; i < 3; ++i) {
            sum += place.feesOf(lp(i), token);
        }
    }

    function lp(uint256 i) internal pure returns (address) {
        return vm.addr(LP + 16 * i);
    }

    function operator(uint256 i) internal pure returns (address) {
        return vm.addr(OPERATOR + 16 * i);
    }

    /// @dev Keys of the oracle's three signers, in the order of their addresses.
    function signerKeys() internal pure returns (uint256[] memory keys) {
        keys = new uint256[](3);
        for (uint256 i; i < 3; ++i) {
            keys[i] = SIGNER + i;
        }
        for (uint256 i; i < 3; ++i) {
            for (uint256 k = i + 1; k < 3; ++k) {
                if (vm.addr(keys[k]) < vm.addr(keys[i])) (keys[i], keys[k]) = (keys[k], keys[i]);
            }
        }
    }

    function sortedSigners() internal pure returns (address[] memory signers) {
        uint256[] memory keys = signerKeys();
        signers = new address[](3);
        for (uint256 i; i < 3; ++i) {
            signers[i] = vm.addr(keys[i]);
        }
    }

    /* ORDERS */

    function word(address account) internal pure returns (bytes32) {
        return bytes32(uint256(uint160(account)));
    }

    function deadline() internal view returns (uint32) {
        return uint32(block.timestamp + 60);
    }

    function quoteContext(address account, uint32 fillDeadline, uint16 portion, uint16 feeBps, uint128 relay)
        internal
        pure
        returns (bytes memory)
    {
        return abi.encodePacked(bytes1(0xe2), word(account), fillDeadline + 1, portion, feeBps, relay);
    }

    function output(IEscrow settler, uint256 chainId, uint256 amount, bytes memory context)
        internal
        view
        returns (MandateOutput memory)
    {
        return MandateOutput({
            oracle: word(address(settler)),
            settler: word(address(settler)),
            chainId: chainId,
            token: word(address(weth)),
            amount: amount,
            recipient: word(recipient),
            callbackData: "",
            context: context
        });
    }

    /// @dev callbackData of an output whose recipient is the escrow that delivers it.
    function ledgerData(bool deferred, address account) internal pure returns (bytes memory) {
        return abi.encodePacked(bytes1(0x01), deferred ? bytes1(0x01) : bytes1(0x00), account);
    }

    /// @dev The order's outputs into the ledger of where they are delivered.
    function intoLedger(StandardOrder memory order, bool deferred, address account) internal pure {
        for (uint256 i; i < order.outputs.length; ++i) {
            order.outputs[i].recipient = order.outputs[i].settler;
            order.outputs[i].callbackData = ledgerData(deferred, account);
        }
    }

    /// @dev An order of one input and no outputs yet.
    function blank(uint256 amount, uint256 outputs) internal returns (StandardOrder memory order) {
        order.user = taker;
        order.nonce = nonceWord == 0 ? uint256(keccak256(abi.encode("nonce", ++orders))) : nonceWord << 8 | ++orders;
        order.originChainId = HERE;
        order.fillDeadline = deadline();
        order.expires = order.fillDeadline + 3600;
        order.inputOracle = address(escrow);
        order.inputs = new uint256[2][](1);
        order.inputs[0] = [uint256(uint160(address(usd))), amount];
        order.outputs = new MandateOutput[](outputs);
    }

    /// @dev Same chain, one LP.
    function simple(uint256 amountIn, uint256 amountOut) internal returns (StandardOrder memory order) {
        order = blank(amountIn, 1);
        order.outputs[0] =
            output(escrow, HERE, amountOut, quoteContext(lp(0), order.fillDeadline, 10_000, FEE, RELAY));
    }

    function simple() internal returns (StandardOrder memory) {
        return simple(IN, OUT);
    }

    /// @dev Same chain, what this filler is to bring.
    function through(address filler) internal returns (StandardOrder memory order) {
        order = blank(IN, 1);
        order.outputs[0] = output(escrow, HERE, OUT, quoteContext(filler, order.fillDeadline, 10_000, FEE, RELAY));
    }

    /// @dev Same chain, three LPs: 50 %, 33.33 %, 16.67 %.
    function split(uint256 amountIn, uint256 amountOut) internal returns (StandardOrder memory order) {
        order = blank(amountIn, 3);
        uint16[3] memory portions = [uint16(5000), 3333, 1667];
        for (uint256 i; i < 3; ++i) {
            order.outputs[i] = output(
                escrow,
                HERE,
                amountOut * portions[i] / 10_000,
                quoteContext(lp(i), order.fillDeadline, portions[i], FEE, i == 0 ? RELAY : 0)
            );
        }
    }

    /// @dev Across chains, one LP.
    function cross() internal returns (StandardOrder memory order) {
        order = simple();
        order.inputOracle = address(oracle);
        order.outputs[0].oracle = word(address(oracle));
        order.outputs[0].settler = word(address(remote));
        order.outputs[0].chainId = THERE;
    }

    /// @dev Same chain, anybody fills.
    function plain() internal returns (StandardOrder memory order) {
        order = blank(IN, 1);
        order.outputs[0] = output(escrow, HERE, OUT, "");
    }

    /* SIGNATURES */

    function sign(uint256 key, bytes32 digest) internal pure returns (bytes memory) {
        (uint8 v, bytes32 r, bytes32 s) = vm.sign(key, digest);
        return abi.encodePacked(r, s, v);
    }

    function typed(address verifier, bytes32 structHash) internal view returns (bytes32) {
        (, string memory name, string memory version, uint256 chainId, address place,,) =
            IDomain(verifier).eip712Domain();
        bytes32 domain = keccak256(
            abi.encode(
                keccak256("EIP712Domain(string name,string version,uint256 chainId,address verifyingContract)"),
                keccak256(bytes(name)),
                keccak256(bytes(version)),
                chainId,
                place
            )
        );
        return keccak256(abi.encodePacked("\x19\x01", domain, structHash));
    }

    function orderDigest(StandardOrder memory order) internal view returns (bytes32) {
        return typed(address(escrow), hashes.structHash(order));
    }

    function orderSignature(StandardOrder memory order) internal view returns (bytes memory) {
        return sign(TAKER, orderDigest(order));
    }

    function idOf(StandardOrder memory order) internal view returns (bytes32) {
        return escrow.orderIdentifier(order);
    }

    function commitmentDigest(bytes32 orderId, Commitment memory c) internal view returns (bytes32) {
        return typed(
            address(escrow),
            keccak256(abi.encode(OrderLib.QUOTE_COMMITMENT_TYPEHASH, orderId, c.quoteId, c.lp, c.deadline))
        );
    }

    /// @dev By the operators of the LPs in the outputs' order.
    function commitments(StandardOrder memory order) internal view returns (Commitment[] memory list) {
        list = new Commitment[](order.outputs.length);
        bytes32 orderId = idOf(order);
        for (uint256 i; i < list.length; ++i) {
            list[i].quoteId = keccak256("quote");
            list[i].lp = address(uint160(uint256(hashes.terms(order.outputs[i].context).exclusiveFor)));
            list[i].deadline = order.fillDeadline;
            list[i].signature = sign(operatorKey(list[i].lp), commitmentDigest(orderId, list[i]));
        }
    }

    function operatorKey(address account) internal pure returns (uint256) {
        for (uint256 i; i < 3; ++i) {
            if (account == lp(i)) return OPERATOR + 16 * i;
        }
        return OPERATOR;
    }

    function approvalFor(IEscrow place, bytes32 orderId, MandateOutput memory o, uint32 until, uint256 key)
        internal
        view
        returns (Approval memory)
    {
        bytes32 structHash =
            keccak256(abi.encode(OrderLib.FILL_APPROVAL_TYPEHASH, orderId, hashes.outputHash(o), until));
        return Approval(until, sign(key, typed(address(place), structHash)));
    }

    function releaseSignature(bytes32 orderId, uint256 key) internal view returns (bytes memory) {
        return sign(key, typed(address(escrow), keccak256(abi.encode(OrderLib.RELEASE_TYPEHASH, orderId))));
    }

    /* FUNDING */

    function byLedger(StandardOrder memory order) internal view returns (bytes memory) {
        return abi.encodePacked(bytes1(0x13), abi.encode(orderSignature(order)));
    }

    function byGrant(StandardOrder memory order) internal view returns (bytes memory) {
        return abi.encodePacked(bytes1(0x10), abi.encode(orderSignature(order)));
    }

    function by3009(StandardOrder memory order) internal view returns (bytes memory) {
        bytes32 nonce = keccak256(abi.encode(order.nonce, "3009"));
        uint256 before = order.fillDeadline + 1;
        bytes memory auth =
            sign(TAKER, receiveDigest(address(escrow), order.user, order.inputs[0][1], 0, before, nonce));
        return abi.encodePacked(bytes1(0x12), abi.encode(orderSignature(order), 0, before, nonce, auth));
    }

    function receiveDigest(
        address to,
        address from,
        uint256 value,
        uint256 validAfter,
        uint256 validBefore,
        bytes32 nonce
    ) internal view returns (bytes32) {
        return typed(
            address(usd),
            keccak256(
                abi.encode(
                    keccak256(
                        "ReceiveWithAuthorization(address from,address to,uint256 value,uint256 validAfter,uint256 validBefore,bytes32 nonce)"
                    ),
                    from,
                    to,
                    value,
                    validAfter,
                    validBefore,
                    nonce
                )
            )
        );
    }

    function byOrder3009(StandardOrder memory order, uint256 key) internal view returns (bytes memory) {
        bytes32 digest = receiveDigest(
            address(escrow), vm.addr(key), order.inputs[0][1], 0, order.fillDeadline, idOf(order)
        );
        return abi.encodePacked(bytes1(0x01), sign(key, digest));
    }

    function permitSignature(StandardOrder memory order, uint256 until, uint256 key)
        internal
        view
        returns (bytes memory)
    {
        bytes32 permissions = keccak256("TokenPermissions(address token,uint256 amount)");
        bytes32[] memory rows = new bytes32[](order.inputs.length);
        for (uint256 i; i < rows.length; ++i) {
            rows[i] = keccak256(abi.encode(permissions, order.inputs[i][0], order.inputs[i][1]));
        }
        bytes32 structHash = keccak256(
            abi.encode(
                keccak256(
                    abi.encodePacked(
                        "PermitBatchWitnessTransferFrom(TokenPermissions[] permitted,address spender,uint256 nonce,uint256 deadline,",
                        OrderLib.PERMIT2_WITNESS_TYPESTRING
                    )
                ),
                keccak256(abi.encodePacked(rows)),
                address(escrow),
                order.nonce,
                until,
                hashes.witnessHash(order)
            )
        );
        return sign(key, keccak256(abi.encodePacked("\x19\x01", permit2.DOMAIN_SEPARATOR(), structHash)));
    }

    function byWitness(StandardOrder memory order, uint256 key) internal view returns (bytes memory) {
        return abi.encodePacked(bytes1(0x00), permitSignature(order, order.fillDeadline, key));
    }

    function byInline(StandardOrder memory order, uint256 until) internal view returns (bytes memory) {
        return abi.encodePacked(
            bytes1(0x11), abi.encode(orderSignature(order), until, permitSignature(order, until, TAKER))
        );
    }

    function grant(address token, uint160 amount) internal {
        vm.prank(taker);
        permit2.approve(token, address(escrow), amount, uint48(block.timestamp + 1 days));
    }

    /// @dev The taker's own ledger account.
    function depositTaker(address token, uint256 amount) internal {
        vm.startPrank(taker);
        DevToken(token).approve(address(escrow), amount);
        escrow.deposit(token, amount);
        vm.stopPrank();
    }

    /* STEPS */

    function status(bytes32 orderId) internal view returns (uint256) {
        return uint256(escrow.orderStatus(orderId));
    }

    function settle(StandardOrder memory order) internal {
        bytes memory funding = by3009(order);
        Commitment[] memory list = commitments(order);
        vm.prank(stranger);
        escrow.settle(order, funding, list);
    }

    /// @dev The same order, to be opened and proven by the records of its fills: one that names the escrow is only settled.
    function toOpen(StandardOrder memory order) internal view returns (StandardOrder memory) {
        order.inputOracle = address(oracle);
        return order;
    }

    function openOrder(StandardOrder memory order) internal returns (bytes32) {
        bytes memory funding = by3009(order);
        vm.prank(stranger);
        escrow.openFor(order, order.user, funding);
        return idOf(order);
    }

    function fillerData(address solver) internal pure returns (bytes memory) {
        return abi.encode(word(solver));
    }

    function solves(address solver, uint256 timestamp) internal pure returns (SolveParams[] memory list) {
        list = new SolveParams[](1);
        list[0] = SolveParams(uint32(timestamp), word(solver));
    }

    /// @dev Two of three signers on one payload.
    function attest(bytes32 payloadHash) internal {
        bytes32[] memory payloads = new bytes32[](1);
        payloads[0] = payloadHash;
        oracle.submit(THERE, word(address(remote)), payloads, attestations(THERE, address(remote), payloadHash, 2));
    }

    function attestations(uint256 chainId, address application, bytes32 payloadHash, uint256 count)
        internal
        view
        returns (bytes[] memory list)
    {
        bytes32 structHash = keccak256(
            abi.encode(
                keccak256("Attestation(uint256 remoteChainId,bytes32 application,bytes32 payloadHash)"),
                chainId,
                word(application),
                payloadHash
            )
        );
        list = new bytes[](count);
        uint256[] memory keys = signerKeys();
        for (uint256 i; i < count; ++i) {
            list[i] = sign(keys[i], typed(address(oracle), structHash));
        }
    }

    /// @dev ERC-2098, a word shorter in the calldata.
    function compact(bytes[] memory list) internal pure returns (bytes[] memory) {
        for (uint256 i; i < list.length; ++i) {
            bytes memory signature = list[i];
            (bytes32 r, bytes32 s, uint8 v) = (bytes32(0), bytes32(0), uint8(signature[64]));
            assembly ("memory-safe") {
                r := mload(add(signature, 0x20))
                s := mload(add(signature, 0x40))
            }
            list[i] = abi.encodePacked(r, uint256(s) | uint256(v - 27) << 255);
        }
        return list;
    }

    /// @dev Two of three signers, once for all of several payloads.
    function listAttestations(address application_, bytes32[] memory payloads) internal view returns (bytes[] memory) {
        return listAttestations(THERE, application_, payloads);
    }

    function listAttestations(uint256 chainId, address application_, bytes32[] memory payloads)
        internal
        view
        returns (bytes[] memory list)
    {
        bytes32 structHash = keccak256(
            abi.encode(
                keccak256("AttestationList(uint256 remoteChainId,bytes32 application,bytes32[] payloadHashes)"),
                chainId,
                word(application_),
                keccak256(abi.encodePacked(payloads))
            )
        );
        list = new bytes[](2);
        uint256[] memory keys = signerKeys();
        for (uint256 i; i < 2; ++i) {
            list[i] = sign(keys[i], typed(address(oracle), structHash));
        }
    }

    /* ERRORS */

    function err(bytes4 selector) internal pure returns (bytes memory) {
        return abi.encodeWithSelector(selector);
    }

    function err(bytes4 selector, uint256 a) internal pure returns (bytes memory) {
        return abi.encodeWithSelector(selector, a);
    }

    function err(bytes4 selector, uint256 a, uint256 b) internal pure returns (bytes memory) {
        return abi.encodeWithSelector(selector, a, b);
    }

    function wrongOracle(address inputOracle) internal pure returns (bytes memory) {
        return abi.encodeWithSelector(IEscrow.WrongOracle.selector, inputOracle);
    }

    function duplicate(MandateOutput memory o) internal view returns (bytes memory) {
        return abi.encodeWithSelector(IEscrow.DuplicateOutput.selector, hashes.fillHash(o));
    }

    function badStatus(bytes32 orderId, OrderStatus was) internal pure returns (bytes memory) {
        return abi.encodeWithSelector(IEscrow.InvalidOrderStatus.selector, orderId, was);
    }

    function badSigner(address signer) internal pure returns (bytes memory) {
        return abi.encodeWithSelector(IEscrow.InvalidSignature.selector, signer);
    }

    /* FEES, computed apart from the contract */

    function feeOf(uint256 slice, uint256 relay) internal pure returns (uint256) {
        return slice * FEE / 10_000 + relay;
    }
}
