package diff

// pair is one row of an alignment: indexes into both lists, -1 for a missing entry.
type pair struct{ a, b int }

// costs are the costs of making two lists equal. Deletion has a cost for each entry. Pairing costs
// 0 for equal entries, and less than two deletions for similar ones.
type costs struct {
	pair         func(a, b int) float64
	onlyA, onlyB func(i int) float64
}

// align pairs the entries of two lists of n and m entries at the lowest cost and keeps their order.
// At equal costs it prefers earlier pairs.
func align(n, m int, c costs) []pair {
	total := make([][]float64, n+1)
	for i := range total {
		total[i] = make([]float64, m+1)
	}
	for i := n; i >= 0; i-- {
		for j := m; j >= 0; j-- {
			total[i][j] = cheapest(i, j, n, m, total, c)
		}
	}
	var rows []pair
	for i, j := 0, 0; i < n || j < m; {
		switch {
		case i < n && j < m && total[i][j] == total[i+1][j+1]+c.pair(i, j):
			rows = append(rows, pair{i, j})
			i, j = i+1, j+1
		case i < n && total[i][j] == total[i+1][j]+c.onlyA(i):
			rows = append(rows, pair{i, -1})
			i++
		default:
			rows = append(rows, pair{-1, j})
			j++
		}
	}
	return rows
}

// cheapest returns the cost of the remainder of both lists from i and j on.
func cheapest(i, j, n, m int, total [][]float64, c costs) float64 {
	if i == n && j == m {
		return 0
	}
	best := -1.0
	take := func(cost float64) {
		if best < 0 || cost < best {
			best = cost
		}
	}
	if i < n && j < m {
		take(total[i+1][j+1] + c.pair(i, j))
	}
	if i < n {
		take(total[i+1][j] + c.onlyA(i))
	}
	if j < m {
		take(total[i][j+1] + c.onlyB(j))
	}
	return best
}

func constant(cost float64) func(int) float64 { return func(int) float64 { return cost } }
