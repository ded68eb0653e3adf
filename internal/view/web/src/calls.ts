/** The purpose of a call, and the required state after it answered OK. */
export const purpose: Record<string, string> = {
  CreateVolume: "Makes a volume in the backend. A repeated call with the same name returns the same volume.",
  DeleteVolume: "Deletes a volume from the backend. After OK the backend must not have it any more.",
  ControllerPublishVolume: "Attaches a volume to a node.",
  ControllerUnpublishVolume: "Detaches a volume from a node. After OK the node must not see it any more.",
  NodeStageVolume: "Makes a volume ready on a node, usually by mounting it once at the staging path.",
  NodeUnstageVolume: "Undoes NodeStageVolume. After OK nothing may be mounted at the staging path.",
  NodePublishVolume: "Mounts a staged volume where the pod sees it, the target path.",
  NodeUnpublishVolume: "Undoes NodePublishVolume. After OK nothing may be mounted at the target path.",
  NodeExpandVolume: "Grows the file system of a volume on its node.",
  ControllerExpandVolume: "Grows a volume in the backend.",
  ControllerModifyVolume: "Changes mutable parameters of a volume.",
  CreateSnapshot: "Takes a snapshot of a volume. A repeated call with the same name returns the same snapshot.",
  DeleteSnapshot: "Deletes a snapshot from the backend.",
  NodeGetInfo: "Names the node for the driver, its topology and how many volumes it takes.",
  NodeGetCapabilities: "Lists the capabilities of the node plugin.",
  ControllerGetCapabilities: "Lists the capabilities of the controller plugin.",
  NodeGetVolumeStats: "Reports usage and health of a mounted volume.",
  ListVolumes: "Lists the volumes of the backend and the nodes they are attached to.",
  Probe: "Asks whether the plugin is ready.",
};

export function section(method: string): string {
  return "https://github.com/container-storage-interface/spec/blob/v1.13.0/spec.md#" + method.toLowerCase();
}
