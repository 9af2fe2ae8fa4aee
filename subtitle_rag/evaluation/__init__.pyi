from . import (
    model_comparison as model_comparison,
    model_report as model_report,
    variants as variants,
)
from .arm_answers import arms_path as arms_path
from .arms import ArmChoice as ArmChoice, EvalModels as EvalModels
from .bench import SAMPLE_QUESTIONS as SAMPLE_QUESTIONS, render_bench as render_bench, run_bench as run_bench
from .dataset import load_questions as load_questions
from .eval_run import RerankCost as RerankCost, run_arms as run_arms
from .generate_questions import (
    GenerationRequest as GenerationRequest,
    MakeReport as MakeReport,
    QuestionMade as QuestionMade,
    Review as Review,
    make_questions as make_questions,
)
from .judged_arms import (
    AnswerStored as AnswerStored,
    ArmFigures as ArmFigures,
    ArmsCost as ArmsCost,
    ArmsEvent as ArmsEvent,
    ArmsReport as ArmsReport,
    judge_arms as judge_arms,
)
from .judging import (
    JudgeReport as JudgeReport,
    MeasureResult as MeasureResult,
    choose_judge as choose_judge,
    judge as judge,
    judge_cases as judge_cases,
)
from .measures import MEASURES as MEASURES
from .model_comparison import (
    CostEstimate as CostEstimate,
    ModelComparison as ModelComparison,
    context_texts as context_texts,
)
from .model_report import ModelReport as ModelReport
from .published_arms import (
    DEPTHS as DEPTHS,
    ArmsRequest as ArmsRequest,
    known_retrievers as known_retrievers,
    parse_arms as parse_arms,
)
from .questions import Dataset as Dataset, GoldSet as GoldSet
from .report import (
    REAL as REAL,
    EvalReport as EvalReport,
    gap_text as gap_text,
    interval_text as interval_text,
    markdown_table as markdown_table,
    missing_videos as missing_videos,
    render_report as render_report,
)
from .temp_library import Views as Views
from .variants import Variant as Variant, VariantRows as VariantRows
