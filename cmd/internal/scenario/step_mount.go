package scenario

import (
	"fmt"
	"path"
)

func init() {
	register("mount", "Shows a directory of a node at another path of it, as an administrator would with mount --bind. Drivers must leave the mount alone.",
		`mount: {node: node-a, source: /srv/data, target: /var/lib/kubelet/data}`, &mountStep{})
	register("unmount", "Removes a mount that a mount step has made.",
		`unmount: {node: node-a, target: /var/lib/kubelet/data}`, &unmountStep{})
}

// mountStep makes a mount that belongs to no driver.
type mountStep struct {
	Node   string `json:"node" want:"required" example:"node-a" doc:"The node."`
	Source string `json:"source" want:"required" example:"/srv/data" doc:"The directory on the node; a missing one is made."`
	Target string `json:"target" want:"required" example:"/var/lib/kubelet/data" doc:"The mount point; a missing one is made. Programs of drivers see it only below the kubelet's directory."`
}

func (s *mountStep) check(c *checker) {
	c.someNode(s.Node)
	c.absolute("source", s.Source)
	c.absolute("target", s.Target)
}

func (s *mountStep) do(r *runner) error {
	cluster, err := r.simulation()
	if err != nil {
		return fmt.Errorf("mount: %w", err)
	}
	return cluster.Mount(s.Node, s.Source, s.Target)
}

// unmountStep removes a mount that mountStep has made.
type unmountStep struct {
	Node   string `json:"node" want:"required" example:"node-a" doc:"The node."`
	Target string `json:"target" want:"required" example:"/var/lib/kubelet/data" doc:"The mount point."`
}

func (s *unmountStep) check(c *checker) {
	c.someNode(s.Node)
	c.absolute("target", s.Target)
}

func (s *unmountStep) do(r *runner) error {
	cluster, err := r.simulation()
	if err != nil {
		return fmt.Errorf("unmount: %w", err)
	}
	return cluster.Unmount(s.Node, s.Target)
}

// someNode checks a node's name. A missing name has already been reported.
func (c *checker) someNode(name string) {
	if name != "" {
		c.node("node", name)
	}
}

// absolute checks a path on a node. A missing path has already been reported.
func (c *checker) absolute(field, file string) {
	if file != "" && (!path.IsAbs(file) || path.Clean(file) != file) {
		c.report(field, fmt.Sprintf("%q", file), "an absolute path without . and ..")
	}
}
