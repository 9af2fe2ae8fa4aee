from . import (
    context_file as context_file,
    dataset as dataset,
    eval_run as eval_run,
    generate_questions as generate_questions,
    judged_arms as judged_arms,
    judging as judging,
    model_comparison as model_comparison,
    model_report as model_report,
    report as report,
    variants as variants,
)
from .arms import ArmChoice as ArmChoice, EvalModels as EvalModels
from .context_file import ContextImport as ContextImport
from .eval_run import RerankCost as RerankCost
from .generate_questions import MakeReport as MakeReport, QuestionMade as QuestionMade, Review as Review
from .judged_arms import (
    DEPTHS as DEPTHS,
    PUBLISHED as PUBLISHED,
    AnswerStored as AnswerStored,
    ArmFigures as ArmFigures,
    ArmsCost as ArmsCost,
    ArmsEvent as ArmsEvent,
    ArmsReport as ArmsReport,
    arms_path as arms_path,
)
from .judging import JudgeReport as JudgeReport, MeasureResult as MeasureResult
from .measures import MEASURES as MEASURES
from .model_comparison import (
    CostEstimate as CostEstimate,
    ModelComparison as ModelComparison,
    context_texts as context_texts,
)
from .model_report import ModelReport as ModelReport
from .questions import Dataset as Dataset, GoldSet as GoldSet
from .report import (
    REAL as REAL,
    EvalReport as EvalReport,
    gap_text as gap_text,
    interval_text as interval_text,
    markdown_table as markdown_table,
    missing_videos as missing_videos,
)
from .sweep import AXES as AXES, Sweep as Sweep, render as render
from .temp_library import Views as Views
from .variants import Variant as Variant, VariantRows as VariantRows
