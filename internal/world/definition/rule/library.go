package rule

import (
	"net/url"
	"reflect"
	"regexp"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/common/types/traits"
	"k8s.io/apimachinery/pkg/api/resource"
)

// library are the functions that the real server adds to CEL, as far as rules of storage kinds use
// them.
var library = cel.Lib(functions{})

type functions struct{}

// ProgramOptions implements cel.Library.
func (functions) ProgramOptions() []cel.ProgramOption { return nil }

// CompileOptions implements cel.Library.
func (functions) CompileOptions() []cel.EnvOption {
	list := cel.ListType(cel.DynType)
	return []cel.EnvOption{
		onList("isSorted", cel.BoolType, func(l traits.Lister) ref.Val { return types.Bool(!steps(l, types.IntOne)) }),
		onList("sum", cel.DynType, sum),
		onList("min", cel.DynType, func(l traits.Lister) ref.Val { return extreme(l, types.IntNegOne) }),
		onList("max", cel.DynType, func(l traits.Lister) ref.Val { return extreme(l, types.IntOne) }),
		cel.Function("indexOf", cel.MemberOverload("dyn_list_index_of", []*cel.Type{list, cel.DynType}, cel.IntType,
			cel.BinaryBinding(func(l, item ref.Val) ref.Val { first, _ := positions(l.(traits.Lister), item); return first }))),
		cel.Function("lastIndexOf", cel.MemberOverload("dyn_list_last_index_of", []*cel.Type{list, cel.DynType}, cel.IntType,
			cel.BinaryBinding(func(l, item ref.Val) ref.Val { _, last := positions(l.(traits.Lister), item); return last }))),
		cel.Function("find", cel.MemberOverload("text_find", []*cel.Type{cel.StringType, cel.StringType}, cel.StringType,
			cel.BinaryBinding(find))),
		cel.Function("isURL", cel.Overload("text_is_url", []*cel.Type{cel.StringType}, cel.BoolType,
			cel.UnaryBinding(func(text ref.Val) ref.Val {
				u, err := url.ParseRequestURI(string(text.(types.String)))
				return types.Bool(err == nil && (u.Host != "" || u.Scheme == ""))
			}))),
	}
}

func onList(name string, result *cel.Type, of func(traits.Lister) ref.Val) cel.EnvOption {
	return cel.Function(name, cel.MemberOverload("dyn_list_"+name, []*cel.Type{cel.ListType(cel.DynType)}, result,
		cel.UnaryBinding(func(l ref.Val) ref.Val { return of(l.(traits.Lister)) })))
}

// steps reports whether any item compares like that with the next one.
func steps(l traits.Lister, like types.Int) bool {
	var before ref.Val
	for it := l.Iterator(); it.HasNext() == types.True; {
		item := it.Next()
		if first, ok := before.(traits.Comparer); ok && first.Compare(item) == like {
			return true
		}
		before = item
	}
	return false
}

func extreme(l traits.Lister, like types.Int) ref.Val {
	var best ref.Val
	for it := l.Iterator(); it.HasNext() == types.True; {
		item := it.Next()
		if c, ok := item.(traits.Comparer); best == nil || ok && c.Compare(best) == like {
			best = item
		}
	}
	if best == nil {
		return types.NewErr("min or max called on empty list")
	}
	return best
}

func sum(l traits.Lister) ref.Val {
	var total ref.Val = types.IntZero
	for it, first := l.Iterator(), true; it.HasNext() == types.True; first = false {
		item := it.Next()
		if first {
			total = item
			continue
		}
		adder, ok := total.(traits.Adder)
		if !ok {
			return types.MaybeNoSuchOverloadErr(total)
		}
		total = adder.Add(item)
	}
	return total
}

// positions returns the first and the last index of an item in a list; -1 if it is missing.
func positions(l traits.Lister, item ref.Val) (first, last types.Int) {
	first, last = types.IntNegOne, types.IntNegOne
	at := types.IntZero
	for it := l.Iterator(); it.HasNext() == types.True; at++ {
		if it.Next().Equal(item) != types.True {
			continue
		}
		if last = at; first == types.IntNegOne {
			first = at
		}
	}
	return first, last
}

func find(text, pattern ref.Val) ref.Val {
	re, err := regexp.Compile(string(pattern.(types.String)))
	if err != nil {
		return types.NewErr("illegal regex: %v", err)
	}
	return types.String(re.FindString(string(text.(types.String))))
}

// quantities are sizes such as 1Gi.
var quantities = cel.Lib(quantityFunctions{})

type quantityFunctions struct{}

var quantityType = cel.OpaqueType("kubernetes.Quantity")

// quantity is a quantity as a value of CEL.
type quantity struct{ *resource.Quantity }

// ProgramOptions implements cel.Library.
func (quantityFunctions) ProgramOptions() []cel.ProgramOption { return nil }

// CompileOptions implements cel.Library.
func (quantityFunctions) CompileOptions() []cel.EnvOption {
	read := func(text ref.Val) (quantity, error) {
		q, err := resource.ParseQuantity(string(text.(types.String)))
		return quantity{&q}, err
	}
	compare := func(name string, of func(order int) ref.Val, result *cel.Type) cel.EnvOption {
		return cel.Function(name, cel.MemberOverload("quantity_"+name, []*cel.Type{quantityType, quantityType}, result,
			cel.BinaryBinding(func(a, b ref.Val) ref.Val { return of(a.(quantity).Cmp(*b.(quantity).Quantity)) })))
	}
	return []cel.EnvOption{
		cel.Function("quantity", cel.Overload("quantity_of_text", []*cel.Type{cel.StringType}, quantityType,
			cel.UnaryBinding(func(text ref.Val) ref.Val {
				q, err := read(text)
				if err != nil {
					return types.WrapErr(err)
				}
				return q
			}))),
		cel.Function("isQuantity", cel.Overload("text_is_quantity", []*cel.Type{cel.StringType}, cel.BoolType,
			cel.UnaryBinding(func(text ref.Val) ref.Val { _, err := read(text); return types.Bool(err == nil) }))),
		compare("isLessThan", func(order int) ref.Val { return types.Bool(order < 0) }, cel.BoolType),
		compare("isGreaterThan", func(order int) ref.Val { return types.Bool(order > 0) }, cel.BoolType),
		compare("compareTo", func(order int) ref.Val { return types.Int(order) }, cel.IntType),
	}
}

// ConvertToNative implements ref.Val.
func (q quantity) ConvertToNative(to reflect.Type) (any, error) {
	return q.String(), nil
}

// ConvertToType implements ref.Val.
func (q quantity) ConvertToType(to ref.Type) ref.Val {
	if to == types.StringType {
		return types.String(q.String())
	}
	return types.NewErr("a quantity is no %s", to.TypeName())
}

// Equal implements ref.Val.
func (q quantity) Equal(other ref.Val) ref.Val {
	o, ok := other.(quantity)
	return types.Bool(ok && q.Cmp(*o.Quantity) == 0)
}

// Type implements ref.Val.
func (q quantity) Type() ref.Type { return quantityType }

// Value implements ref.Val.
func (q quantity) Value() any { return *q.Quantity }
