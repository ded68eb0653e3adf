package rule

import (
	"github.com/google/cel-go/checker"
	"github.com/google/cel-go/common/types"
)

// costs estimates the size of a value as the largest size that its schema allows.
type costs struct {
	self *declared // nil if rules cannot read its values
}

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

// EstimateCallCost implements checker.CostEstimator. Kubernetes' library provides the costs of its
// functions.
func (*costs) EstimateCallCost(string, string, *checker.AstNode, []checker.AstNode) *checker.CallEstimate {
	return nil
}
