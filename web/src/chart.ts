// uPlot in the page's colours: shared axes and sizes, and hooks for what each chart paints.
import uPlot from "uplot";
import { h } from "./dom.ts";
import type { BasePage } from "./page.ts";

export interface Axis {
  label: () => string;
  range(): [number, number];
  isWhole?: boolean;
}

export interface Wanted {
  /** Description for screen readers. */
  label: string;
  x: Axis;
  y: Axis;
  /** Ratio of width to height; 1 for square charts. */
  aspect?: number;
  series?(): uPlot.Series[];
  bands?(): uPlot.Band[];
  /** Paints below or above the lines, in canvas pixels. */
  paint?(plot: uPlot, context: CanvasRenderingContext2D): void;
  /** The pointer is at a value of both axes; null when it leaves. */
  point?(at: { x: number; y: number; plot: uPlot } | null): void;
  click?(at: { x: number; y: number; plot: uPlot }): void;
}

const WHOLE = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000];

export class Chart {
  readonly node: HTMLElement;
  plot: uPlot | null = null;
  private key = "";
  private data: uPlot.AlignedData = [[]];

  constructor(
    private readonly page: BasePage,
    private readonly wanted: Wanted,
  ) {
    this.node = h("div", { class: "chart", role: "img", "aria-label": wanted.label });
    const fit = (): void => void (this.plot && this.resize());
    new ResizeObserver(fit).observe(this.node);
    // Size observers are notified too late for printing.
    for (const event of ["beforeprint", "afterprint"]) addEventListener(event, fit);
  }

  /** Draws data; the chart is recreated if the key (the appearance of its lines) changes. */
  draw(data: uPlot.AlignedData, key = ""): void {
    this.data = data;
    const { looks } = this.page;
    key = `${key}|${looks.ink}`;
    if (this.plot && key === this.key) {
      this.plot.setData(data, true);
      return;
    }
    this.key = key;
    this.plot?.destroy();
    this.plot = new uPlot(this.options(), data, this.node);
  }

  /** Repaints everything that is not in the data. */
  repaint(): void {
    this.plot?.redraw(true, true);
  }

  size(): { width: number; height: number } {
    const width = Math.max(240, Math.floor(this.node.clientWidth || 600));
    const aspect = this.wanted.aspect ?? Math.min(2.2, Math.max(1.25, width / 380));
    return { width, height: Math.round(width / aspect) };
  }

  private resize(): void {
    const size = this.size();
    if (size.width !== this.plot!.width) this.plot!.setSize(size);
  }

  private options(): uPlot.Options {
    const { wanted } = this;
    const { looks } = this.page;
    const axis = ({ label, isWhole }: Axis, size: number): uPlot.Axis => ({
      ...(label() && { label: label() }),
      labelSize: 18,
      labelFont: looks.font,
      font: looks.font,
      stroke: looks.soft,
      size,
      gap: 4,
      grid: { stroke: looks.rule, width: 1 },
      ticks: { show: false },
      ...(isWhole && { incrs: WHOLE }),
    });
    const at = (plot: uPlot): { x: number; y: number; plot: uPlot } | null => {
      const { left, top } = plot.cursor;
      return left === undefined || left < 0 ? null : { x: plot.posToVal(left, "x"), y: plot.posToVal(top!, "y"), plot };
    };
    return {
      ...this.size(),
      padding: [12, 14, 0, 0],
      legend: { show: false },
      scales: { x: { time: false, range: () => wanted.x.range() }, y: { range: () => wanted.y.range() } },
      axes: [axis(wanted.x, 26), axis(wanted.y, 40)],
      series: [{}, ...(wanted.series?.() ?? this.data.slice(1).map(() => ({ show: false })))],
      bands: wanted.bands?.() ?? [],
      cursor: {
        y: false,
        x: !!wanted.series,
        points: { show: false },
        drag: { x: false, y: false, setScale: false, click: () => undefined },
      },
      hooks: {
        draw: [(plot) => this.painted(plot)],
        setCursor: [(plot) => wanted.point?.(at(plot))],
        ready: [
          (plot) =>
            wanted.click &&
            plot.over.addEventListener("click", ({ offsetX, offsetY }) => {
              wanted.click!({ x: plot.posToVal(offsetX, "x"), y: plot.posToVal(offsetY, "y"), plot });
            }),
        ],
      },
    };
  }

  private painted(plot: uPlot): void {
    if (!this.wanted.paint) return;
    const { ctx, bbox } = plot;
    ctx.save();
    ctx.beginPath();
    ctx.rect(bbox.left - 4, bbox.top - 4, bbox.width + 8, bbox.height + 8);
    ctx.clip();
    this.wanted.paint(plot, ctx);
    ctx.restore();
  }
}

/** A straight line through the whole chart: at a value of one axis, or between two points. */
export function rule(
  plot: uPlot,
  colour: string,
  from: [number, number],
  to: [number, number],
  dash: number[] = [],
): void {
  const { ctx } = plot;
  const ratio = devicePixelRatio;
  ctx.strokeStyle = colour;
  ctx.lineWidth = ratio;
  ctx.setLineDash(dash.map((part) => part * ratio));
  ctx.beginPath();
  ctx.moveTo(plot.valToPos(from[0], "x", true), plot.valToPos(from[1], "y", true));
  ctx.lineTo(plot.valToPos(to[0], "x", true), plot.valToPos(to[1], "y", true));
  ctx.stroke();
  ctx.setLineDash([]);
}
