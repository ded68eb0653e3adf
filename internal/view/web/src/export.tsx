import type { Shared } from "./app.tsx";

export function Export(_: Shared) { return null; }
