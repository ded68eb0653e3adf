package kernel

import "slices"

// queue holds the ready processes, in order. The queue may be very long, and the strategy may
// remove any process. Therefore it consists of blocks, and a removal moves only the processes of
// one block.
type queue struct {
	blocks []*block // none is empty
	spare  *block
	n      int
}

const blockSize = 256

type block struct {
	items    [blockSize]*Process
	from, to int
}

func (q *queue) len() int { return q.n }

func (q *queue) push(p *Process) {
	last := len(q.blocks) - 1
	if last < 0 || q.blocks[last].to == blockSize {
		q.blocks = append(q.blocks, q.empty())
		last++
	}
	b := q.blocks[last]
	b.items[b.to] = p
	b.to++
	q.n++
}

// empty returns a block without processes: the last emptied block, or a new one.
func (q *queue) empty() *block {
	b := q.spare
	q.spare = nil
	if b == nil {
		b = new(block)
	}
	b.from, b.to = 0, 0
	return b
}

// at returns the process at position i, counted from 0.
func (q *queue) at(i int) *Process {
	first := q.blocks[0]
	if i < first.to-first.from {
		return first.items[first.from+i]
	}
	j, i := q.find(i)
	return q.blocks[j].items[i]
}

// all returns the processes in order, valid until the queue changes.
func (q *queue) all() []*Process {
	if len(q.blocks) == 1 {
		return q.blocks[0].items[q.blocks[0].from:q.blocks[0].to]
	}
	all := make([]*Process, 0, q.n)
	for _, b := range q.blocks {
		all = append(all, b.items[b.from:b.to]...)
	}
	return all
}

// take removes the process at position i.
func (q *queue) take(i int) *Process {
	j, i := q.find(i)
	p := q.blocks[j].items[i]
	q.cut(j, i)
	return p
}

// drop removes a process from any position.
func (q *queue) drop(p *Process) {
	for j, b := range q.blocks {
		if i := slices.Index(b.items[b.from:b.to], p); i >= 0 {
			q.cut(j, b.from+i)
			return
		}
	}
}

// find returns the block of position i, and the position in its items.
func (q *queue) find(i int) (int, int) {
	for j, b := range q.blocks {
		if held := b.to - b.from; i >= held {
			i -= held
			continue
		}
		return j, b.from + i
	}
	panic("no such place in the queue")
}

func (q *queue) cut(j, i int) {
	b := q.blocks[j]
	if i == b.from {
		b.items[i] = nil
		b.from++
	} else {
		copy(b.items[i:], b.items[i+1:b.to])
		b.to--
		b.items[b.to] = nil
	}
	q.n--
	if b.from == b.to {
		q.blocks = slices.Delete(q.blocks, j, j+1)
		q.spare = b
	}
}
