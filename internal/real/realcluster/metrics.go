package realcluster

import (
	"context"
	"strings"
)

// Metrics returns the lines of a node's kubelet metrics endpoint; none while the kubelet is down.
func (c *Cluster) Metrics(node string) (lines []string) {
	ctx, cancel := context.WithTimeout(c.ctx, askTime)
	defer cancel()
	text, err := c.clients.CoreV1().RESTClient().Get().AbsPath("/api/v1/nodes/" + node + "/proxy/metrics").DoRaw(ctx)
	if err != nil {
		return nil
	}
	for line := range strings.Lines(c.options.Deploy.Scope.Plain(string(text))) {
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "#") {
			lines = append(lines, line)
		}
	}
	return lines
}
