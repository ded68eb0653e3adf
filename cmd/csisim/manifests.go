package main

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/csisim/csisim/internal/real/deploy"
	"github.com/csisim/csisim/internal/real/promotion"
)

func newManifests(env environment) *cobra.Command {
	var image, namespace string
	var sidecars map[string]string
	command := &cobra.Command{
		Use:   "manifests FILE",
		Short: "Print the manifests that deploy a scenario's drivers on a real cluster",
		Long: `Print the manifests that deploy the drivers of a scenario on a real cluster: a
DaemonSet with node-driver-registrar, a Deployment with the sidecars for the driver's
capabilities, their RBAC rules, and the CSIDriver object. The drivers are started
once to query their capabilities.`,
		Example: `  csisim manifests scenarios/programs/hostdir-data.yaml --image registry.example.com/hostdir:v1 > driver.yaml`,
		Args:    cobra.MatchAll(needs("a scenario FILE"), atMost(1)),
		RunE: func(command *cobra.Command, args []string) error {
			return manifests(command.Context(), env, args[0], image, deploy.Options{Namespace: namespace, Images: sidecars})
		},
		ValidArgsFunction: completeScenarios,
	}
	flags := command.Flags()
	flags.StringVar(&image, "image", "", "the `IMAGE` of the driver (default: the image that --on kind builds)")
	flags.StringVar(&namespace, "namespace", deploy.Namespace, "`NAME` of the namespace")
	flags.StringToStringVar(&sidecars, "sidecar-image", nil, "`SIDECAR=IMAGE` instead of the pinned one")
	for _, flag := range []string{"image", "namespace", "sidecar-image"} {
		complete(command, flag, cobra.NoFileCompletions)
	}
	return command
}

func manifests(ctx context.Context, env environment, file, image string, o deploy.Options) error {
	scenarios, err := loadScenarios(env, []string{file})
	if err != nil {
		return err
	}
	found, err := promotion.Deploy(ctx, scenarios[0].Subject(), o)
	if err != nil {
		return err
	}
	for i, d := range found.Drivers {
		for _, p := range []*deploy.Program{d.Node, d.Controller} {
			if p != nil && image != "" {
				p.Image = image
			}
		}
		if i > 0 {
			if _, err := env.stdout.Write([]byte("---\n")); err != nil {
				return err
			}
		}
		if err := deploy.Write(env.stdout, deploy.Manifests(d, o)); err != nil {
			return err
		}
	}
	return nil
}
