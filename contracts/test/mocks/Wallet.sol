// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

/// @notice An ERC-1271 wallet that answers as it was made to, whatever was signed.
contract Wallet {
    enum Answer {
        Accept,
        WrongMagic,
        Short,
        Revert,
        BurnGas,
        Bomb,
        RevertBomb,
        Reenter
    }

    Answer public immutable answer;
    address private immutable _target;
    uint256 public touched;

    constructor(Answer answer_, address target) {
        answer = answer_;
        _target = target;
    }

    function act(address to, bytes calldata data) external returns (bytes memory) {
        (bool success, bytes memory out) = to.call(data);
        if (!success) {
            assembly ("memory-safe") {
                revert(add(out, 0x20), mload(out))
            }
        }
        return out;
    }

    function touch() external {
        ++touched;
    }

    function isValidSignature(bytes32, bytes calldata) external view returns (bytes4) {
        Answer how = answer;
        if (how == Answer.BurnGas) {
            while (true) {}
        }
        if (how == Answer.Reenter) {
            // Views may not write, so this has to fail, and says so by refusing the signature if it does not.
            (bool wrote,) = address(this).staticcall{gas: 50_000}(abi.encodeCall(this.touch, ()));
            (bool entered,) = _target.staticcall{gas: 50_000}(abi.encodeWithSignature("invalidateNonce(uint256)", 1));
            return wrote || entered ? bytes4(0) : bytes4(0x1626ba7e);
        }
        assembly ("memory-safe") {
            mstore(0, shl(224, 0x1626ba7e))
            switch how
            case 1 { mstore(0, shl(224, 0x1626ba7f)) }
            case 2 { return(0, 0x1f) }
            case 3 { revert(0, 0x20) }
            case 5 {
                mstore(0x80, 0)
                return(0x80, 400000)
            }
            case 6 { revert(0x80, 400000) }
            return(0, 0x20)
        }
    }
}
