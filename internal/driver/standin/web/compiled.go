package web

import "fmt"

// compiled holds the compiled expressions of a collection.
type compiled struct {
	listed                   *expression
	create, created, nodes   *expression
	size, from, seenBy, path *expression // of its disks
}

func (c Collection) compile() (x compiled, err error) {
	all := []named{{"listed", c.Listed, &x.listed}, {"create", c.Create, &x.create}, {"created", c.Created, &x.created}, {"nodes", c.Nodes, &x.nodes}}
	if d := c.Disk; d != nil {
		all = append(all, named{"disk.size", d.Size, &x.size}, named{"disk.from", d.From, &x.from},
			named{"disk.nodes", d.Nodes, &x.seenBy}, named{"disk.path", d.Path, &x.path})
	}
	err = compileAll(all, c.Path)
	return x, err
}

// compiledRoute is a route with its expressions.
type compiledRoute struct {
	Route
	when, set, made, answer *expression
}

func (r Route) compile() (compiledRoute, error) {
	x := compiledRoute{Route: r}
	all := []named{{"when", r.When, &x.when}, {"set", r.Set, &x.set}, {"new", r.New, &x.made}, {"answer", r.Answer, &x.answer}}
	err := compileAll(all, r.Path)
	return x, err
}

// named is the text of an expression, and the destination of its compiled form.
type named struct {
	field, text string
	to          **expression
}

func compileAll(all []named, path string) (err error) {
	for _, n := range all {
		if *n.to, err = compile(n.text); err != nil {
			return fmt.Errorf("%s of path %q: %w", n.field, path, err)
		}
	}
	return nil
}
