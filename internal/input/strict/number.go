package strict

import (
	"fmt"
	"math"
	"reflect"
	"strconv"
)

// maxExact limits the whole numbers that a float represents exactly.
const maxExact = 1 << 53

func (n *Node) decodeInt(v reflect.Value, f *field) {
	if !n.isWhole() {
		n.ReportWrong(n.document.want(v.Type(), f))
		return
	}
	var number int64
	if !n.decodeWhole(&number) || v.OverflowInt(number) {
		bits := v.Type().Bits()
		n.ReportWrong(fmt.Sprintf("a whole number from %d to %d", int64(-1)<<(bits-1), int64(math.MaxInt64)>>(64-bits)))
		return
	}
	if n.checkEnum(strconv.FormatInt(number, 10), f) {
		v.SetInt(number)
	}
}

func (n *Node) decodeUint(v reflect.Value, f *field) {
	if !n.isWhole() {
		n.ReportWrong(n.document.want(v.Type(), f))
		return
	}
	var number uint64
	if !n.decodeWhole(&number) || v.OverflowUint(number) {
		n.ReportWrong(fmt.Sprintf("a whole number from 0 to %d", uint64(math.MaxUint64)>>(64-v.Type().Bits())))
		return
	}
	if n.checkEnum(strconv.FormatUint(number, 10), f) {
		v.SetUint(number)
	}
}

func (n *Node) decodeFloat(v reflect.Value, f *field) {
	number, ok := n.number()
	if !ok || v.OverflowFloat(number) {
		n.ReportWrong(n.document.want(v.Type(), f))
		return
	}
	v.SetFloat(number)
}

// number returns the node's value as a float, if it is a valid JSON number.
func (n *Node) number() (float64, bool) {
	tag := n.tag()
	if tag != intTag && tag != floatTag {
		return 0, false
	}
	var number float64
	if err := n.yaml.Decode(&number); err != nil {
		return 0, false
	}
	return number, !math.IsInf(number, 0) && !math.IsNaN(number)
}

// isWhole reports whether the node is a number without a fraction, as in JSON, such as 1.0 and 1e3.
func (n *Node) isWhole() bool {
	number, ok := n.number()
	return ok && number == math.Trunc(number)
}

// decodeWhole reads a whole number into a pointer to an integer, and reports whether it fits
// without loss. The YAML library itself would truncate it.
func (n *Node) decodeWhole(into any) bool {
	if number, _ := n.number(); n.tag() == floatTag && math.Abs(number) > maxExact {
		return false
	}
	return n.yaml.Decode(into) == nil
}
