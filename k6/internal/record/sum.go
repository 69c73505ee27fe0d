// SPDX-License-Identifier: AGPL-3.0-only

package record

import (
	"fmt"
	"math/big"
	"math/bits"
)

// sum is an exact sum with 128 bits: it does not depend on the order and grouping of the numbers. A sum of
// floating-point numbers does.
type sum struct {
	high int64
	low  uint64
}

func (s *sum) add(value int64) {
	low, carry := bits.Add64(s.low, uint64(value), 0)
	s.low, s.high = low, s.high+value>>63+int64(carry)
}

func (s *sum) merge(other sum) {
	low, carry := bits.Add64(s.low, other.low, 0)
	s.low, s.high = low, s.high+other.high+int64(carry)
}

func (s sum) float() float64 {
	value, _ := new(big.Float).SetInt(s.big()).Float64()
	return value
}

func (s sum) big() *big.Int {
	high := new(big.Int).Lsh(big.NewInt(s.high), 64)
	return high.Add(high, new(big.Int).SetUint64(s.low))
}

// MarshalText writes the sum as a decimal number.
func (s sum) MarshalText() ([]byte, error) { return s.big().MarshalText() }

// UnmarshalText parses the text of MarshalText.
func (s *sum) UnmarshalText(text []byte) error {
	var whole big.Int
	if err := whole.UnmarshalText(text); err != nil {
		return err
	}
	high := new(big.Int).Rsh(&whole, 64)
	if !high.IsInt64() {
		return fmt.Errorf("a sum of more than 128 bits")
	}
	s.high = high.Int64()
	s.low = new(big.Int).Sub(&whole, new(big.Int).Lsh(high, 64)).Uint64()
	return nil
}
