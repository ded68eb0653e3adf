package rule

import (
	"math"

	"github.com/google/cel-go/checker"
	"github.com/google/cel-go/common"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/common/types/traits"
)

// costs are the costs of the functions that Kubernetes adds to CEL: the estimated ones, with the
// largest values that a schema allows, and the actual ones. [apiserver/pkg/cel/library/cost.go]
type costs struct {
	self *declared // nil if rules do not see its values
}

var (
	one     = checker.FixedSizeEstimate(1)
	oneStep = &checker.CallEstimate{CostEstimate: checker.FixedCostEstimate(1)}
)

// EstimateSize implements checker.CostEstimator: it returns the size of the value at a path below
// self or oldSelf.
func (c *costs) EstimateSize(node checker.AstNode) *checker.SizeEstimate {
	if len(node.Path()) == 0 || c.self == nil {
		return nil
	}
	at := c.self
	for _, step := range node.Path()[1:] {
		switch step {
		case "@items", "@values":
			at = at.item
		case "@keys":
			if at.item == nil || at.is.Kind() != types.MapKind {
				return nil
			}
			at = &declared{is: types.StringType}
		default:
			at = at.fields[step]
		}
		if at == nil {
			return nil
		}
	}
	return &checker.SizeEstimate{Max: at.most}
}

// EstimateCallCost implements checker.CostEstimator.
func (c *costs) EstimateCallCost(function, _ string, target *checker.AstNode, args []checker.AstNode) *checker.CallEstimate {
	switch function {
	case "quantity", "isQuantity":
		return &checker.CallEstimate{CostEstimate: traversal(c.size(args[0]), 1)}
	case "isGreaterThan", "isLessThan", "compareTo":
		return oneStep
	}
	if target == nil {
		return nil
	}
	size := c.size(*target)
	switch function {
	case "isSorted", "sum", "min", "max", "indexOf", "lastIndexOf":
		return c.estimateLook(*target, size)
	case "lowerAscii", "upperAscii", "substring", "trim":
		return &checker.CallEstimate{CostEstimate: traversal(size, 1), ResultSize: &size}
	case "split":
		return estimateSplit(size, args)
	case "replace":
		result := replacedSize(size, c.size(args[0]), c.size(args[1]))
		return &checker.CallEstimate{CostEstimate: traversal(size, 2), ResultSize: &result}
	case "join":
		result := c.joinedSize(*target, size, args)
		return &checker.CallEstimate{CostEstimate: traversal(result, 1), ResultSize: &result}
	case "find":
		cost := traversal(size.Add(one), 1).Multiply(c.size(args[0]).MultiplyByCostFactor(common.RegexStringLengthCostFactor))
		return &checker.CallEstimate{CostEstimate: cost, ResultSize: &checker.SizeEstimate{Max: size.Max}}
	}
	return nil
}

func traversal(size checker.SizeEstimate, times float64) checker.CostEstimate {
	return size.MultiplyByCostFactor(times * common.StringTraversalCostFactor)
}

func (c *costs) size(node checker.AstNode) checker.SizeEstimate {
	if size := node.ComputedSize(); size != nil {
		return *size
	}
	if size := c.EstimateSize(node); size != nil {
		return *size
	}
	return checker.UnknownSizeEstimate()
}

// estimateLook estimates visiting each item of a list, or each character of a text.
func (c *costs) estimateLook(target checker.AstNode, size checker.SizeEstimate) *checker.CallEstimate {
	item := itemOf(target)
	if item == nil {
		return &checker.CallEstimate{CostEstimate: traversal(size, 1)}
	}
	each := checker.FixedCostEstimate(1)
	if kind := item.Type().Kind(); kind == types.StringKind || kind == types.BytesKind {
		each = each.Add(traversal(c.size(item), 1))
	}
	return &checker.CallEstimate{CostEstimate: size.MultiplyByCost(each)}
}

// estimateSplit: a text is split into as many parts as it has characters, or as the last argument
// allows.
func estimateSplit(size checker.SizeEstimate, args []checker.AstNode) *checker.CallEstimate {
	most := size.Max
	if len(args) > 1 {
		if limit := args[1].Expr().AsLiteral(); limit != nil {
			if n, ok := limit.Value().(int64); ok {
				most = uint64(n)
			}
		}
	}
	return &checker.CallEstimate{CostEstimate: traversal(size, 2), ResultSize: &checker.SizeEstimate{Max: most}}
}

// replacedSize estimates the size of a text after replacements, at the most and the least possible.
func replacedSize(text, was, is checker.SizeEstimate) checker.SizeEstimate {
	var times, kept checker.SizeEstimate
	switch {
	case was.Min == 0: // the new text surrounds each character
		times.Max, kept.Max = more(text.Max), text.Max
	case is.Max <= was.Min:
		kept.Max = text.Max
	default:
		times.Max = ratio(text.Max, was.Min)
	}
	switch {
	case was.Max == 0:
		times.Min, kept.Min = more(text.Min), text.Min
	case was.Max <= is.Min:
		kept.Min = text.Min
	default:
		times.Min = ratio(text.Min, was.Max)
	}
	return times.Multiply(is).Add(kept)
}

func more(n uint64) uint64 {
	if n == math.MaxUint64 {
		return n
	}
	return n + 1
}

func ratio(n, by uint64) uint64 {
	if n == math.MaxUint64 && by == 1 {
		return n
	}
	return uint64(math.Ceil(float64(n) / float64(by)))
}

// joinedSize estimates the size of the texts of a list with separators.
func (c *costs) joinedSize(list checker.AstNode, items checker.SizeEstimate, args []checker.AstNode) (size checker.SizeEstimate) {
	if item := itemOf(list); item != nil {
		size = items.Multiply(c.size(item))
	}
	if len(args) == 0 {
		return size
	}
	gaps := checker.SizeEstimate{Min: max(items.Min, 1) - 1, Max: max(items.Max, 1) - 1}
	return size.Add(c.size(args[0]).Multiply(gaps))
}

// item stands for all items of a list.
type item struct {
	checker.AstNode
	path []string
	of   *types.Type
}

func (i item) Path() []string                      { return i.path }
func (i item) Type() *types.Type                   { return i.of }
func (i item) ComputedSize() *checker.SizeEstimate { return nil }

// itemOf returns nil for anything but a list.
func itemOf(list checker.AstNode) checker.AstNode {
	of := list.Type().Parameters()
	if len(of) == 0 {
		return nil
	}
	i := item{AstNode: list, of: of[0]}
	if path := list.Path(); path != nil {
		i.path = append(append(i.path, path...), "@items")
	}
	return i
}

// CallCost implements interpreter.ActualCostEstimator.
func (c *costs) CallCost(function, _ string, args []ref.Val, result ref.Val) *uint64 {
	if len(args) == 0 {
		return nil
	}
	cost := uint64(1)
	switch function {
	case "isSorted", "sum", "min", "max", "indexOf", "lastIndexOf":
		cost = looks(args[0])
	case "lowerAscii", "upperAscii", "substring", "trim", "quantity", "isQuantity":
		cost = characters(args[0], 1)
	case "replace", "split":
		cost = characters(args[0], 2)
	case "join":
		cost = characters(result, 2)
	case "find":
		cost = uint64(math.Ceil((1+float64(actualSize(args[0])))*common.StringTraversalCostFactor)) *
			uint64(math.Ceil(float64(actualSize(args[1]))*common.RegexStringLengthCostFactor))
	case "isGreaterThan", "isLessThan", "compareTo":
	default:
		return nil
	}
	return &cost
}

func characters(text ref.Val, times float64) uint64 {
	return uint64(math.Ceil(float64(actualSize(text)) * times * common.StringTraversalCostFactor))
}

func actualSize(value ref.Val) uint64 {
	if sized, ok := value.(traits.Sizer); ok {
		return uint64(sized.Size().(types.Int))
	}
	return 1
}

// looks returns how many steps visiting a value takes.
func looks(value ref.Val) uint64 {
	switch value := value.(type) {
	case types.String:
		return uint64(float64(len(value)) * common.StringTraversalCostFactor)
	case traits.Lister:
		var cost uint64
		for i := value.Iterator(); i.HasNext() == types.True; {
			cost += looks(i.Next())
		}
		return cost
	}
	return 1
}
