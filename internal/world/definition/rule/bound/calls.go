package bound

import (
	"strings"

	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/common/types/traits"
	"github.com/google/cel-go/interpreter"
)

// maxText limits the texts that an expression creates, in bytes. All texts of a request together
// have at most 3 MiB.
const maxText = 4 << 20

// boundCalls replaces functions that can cost too much. With such a function, a short expression
// could create a list or a text that exceeds all memory, or compare each item of one list to each
// item of another.
func boundCalls(step interpreter.Interpretable) (interpreter.Interpretable, error) {
	if call, ok := step.(interpreter.InterpretableCall); ok && bounded[call.Function()] != nil {
		return boundedCall{call}, nil
	}
	return step, nil
}

// bounded holds the replacements, by the functions' names.
var bounded = map[string]func(names interpreter.Activation, args []ref.Val) ref.Val{
	"lists.range": func(_ interpreter.Activation, args []ref.Val) ref.Val { return numbers(args) },
	"sets.contains": func(names interpreter.Activation, args []ref.Val) ref.Val {
		return containsAll(names, args[0], args[1])
	},
	"sets.equivalent": equivalent,
	"sets.intersects": intersects,
	"_+_":             func(_ interpreter.Activation, args []ref.Val) ref.Val { return sum(args) },
	"replace":         func(_ interpreter.Activation, args []ref.Val) ref.Val { return replaced(args) },
	"join":            func(_ interpreter.Activation, args []ref.Val) ref.Val { return joined(args) },
}

// boundedCall is a call of such a function.
type boundedCall struct{ interpreter.InterpretableCall }

// Eval calls the function.
func (c boundedCall) Eval(names interpreter.Activation) ref.Val {
	var args []ref.Val
	for _, arg := range c.Args() {
		value := arg.Eval(names)
		if types.IsUnknownOrError(value) {
			return value
		}
		args = append(args, value)
	}
	return bounded[c.Function()](names, args)
}

// numbers implements lists.range. It returns the numbers from 0 on.
func numbers(args []ref.Val) ref.Val {
	n, ok := args[0].(types.Int)
	switch {
	case !ok:
		return types.MaybeNoSuchOverloadErr(args[0])
	case n > maxRange:
		return types.NewErr("lists.range(%d): a list has at most %d items", n, maxRange)
	}
	all := make([]ref.Val, max(n, 0))
	for i := range all {
		all[i] = types.Int(i)
	}
	return types.DefaultTypeAdapter.NativeToValue(all)
}

// interrupted counts a step, and reports whether there are too many.
func interrupted(names interpreter.Activation) bool {
	over, _ := names.ResolveName("#interrupted")
	return over == true
}

// found reports whether a list contains an item. Each visited item counts.
func found(names interpreter.Activation, list traits.Lister, item ref.Val) (bool, ref.Val) {
	for i := list.Iterator(); i.HasNext() == types.True; {
		if interrupted(names) {
			return false, types.NewErr("interrupted")
		}
		if i.Next().Equal(item) == types.True {
			return true, nil
		}
	}
	return false, nil
}

// containsAll reports whether a list has all items of another.
func containsAll(names interpreter.Activation, list, items ref.Val) ref.Val {
	in, of, failure := lists(list, items)
	if failure != nil {
		return failure
	}
	for i := of.Iterator(); i.HasNext() == types.True; {
		if has, failure := found(names, in, i.Next()); failure != nil || !has {
			return either(failure, types.False)
		}
	}
	return types.True
}

// equivalent reports whether two lists have the same items, regardless of order and number.
func equivalent(names interpreter.Activation, args []ref.Val) ref.Val {
	if there := containsAll(names, args[0], args[1]); there != types.True {
		return there
	}
	return containsAll(names, args[1], args[0])
}

// intersects reports whether two lists have an item in common.
func intersects(names interpreter.Activation, args []ref.Val) ref.Val {
	in, of, failure := lists(args[0], args[1])
	if failure != nil {
		return failure
	}
	for i := of.Iterator(); i.HasNext() == types.True; {
		if has, failure := found(names, in, i.Next()); failure != nil || has {
			return either(failure, types.True)
		}
	}
	return types.False
}

func either(failure, value ref.Val) ref.Val {
	if failure != nil {
		return failure
	}
	return value
}

func lists(a, b ref.Val) (traits.Lister, traits.Lister, ref.Val) {
	first, ok := a.(traits.Lister)
	if !ok {
		return nil, nil, types.MaybeNoSuchOverloadErr(a)
	}
	second, ok := b.(traits.Lister)
	if !ok {
		return nil, nil, types.MaybeNoSuchOverloadErr(b)
	}
	return first, second, nil
}

// sum implements + for all types that + supports.
func sum(args []ref.Val) ref.Val {
	a, isText := args[0].(types.String)
	b, too := args[1].(types.String)
	if isText && too && len(a)+len(b) > maxText {
		return tooLong("+")
	}
	adder, ok := args[0].(traits.Adder)
	if !ok {
		return types.MaybeNoSuchOverloadErr(args[0])
	}
	return adder.Add(args[1])
}

// replaced implements replace(old, new) and replace(old, new, times).
func replaced(args []ref.Val) ref.Val {
	var texts [3]string
	for i := range texts {
		text, ok := args[i].(types.String)
		if !ok {
			return types.MaybeNoSuchOverloadErr(args[i])
		}
		texts[i] = string(text)
	}
	times := strings.Count(texts[0], texts[1])
	if len(args) == 4 {
		limit, ok := args[3].(types.Int)
		if !ok {
			return types.MaybeNoSuchOverloadErr(args[3])
		}
		if limit >= 0 {
			times = min(times, int(limit))
		}
	}
	if len(texts[0])+times*(len(texts[2])-len(texts[1])) > maxText {
		return tooLong("replace")
	}
	return types.String(strings.Replace(texts[0], texts[1], texts[2], times))
}

// joined implements join() and join(separator).
func joined(args []ref.Val) ref.Val {
	list, ok := args[0].(traits.Lister)
	if !ok {
		return types.MaybeNoSuchOverloadErr(args[0])
	}
	separator := types.String("")
	if len(args) == 2 {
		if separator, ok = args[1].(types.String); !ok {
			return types.MaybeNoSuchOverloadErr(args[1])
		}
	}
	var text strings.Builder
	first := true
	for i := list.Iterator(); i.HasNext() == types.True; {
		part, ok := i.Next().(types.String)
		if !ok {
			return types.MaybeNoSuchOverloadErr(args[0])
		}
		if !first {
			text.WriteString(string(separator))
		}
		first = false
		text.WriteString(string(part))
		if text.Len() > maxText {
			return tooLong("join")
		}
	}
	return types.String(text.String())
}

func tooLong(function string) ref.Val {
	return types.NewErr("%s: a text has at most %d bytes", function, maxText)
}
