from .analysis_ahead import AnalysisAhead as AnalysisAhead
from .analysis_client import (
    AnalysisClient as AnalysisClient,
    HostedAnalyzer as HostedAnalyzer,
    HostedQueryAnalyzer as HostedQueryAnalyzer,
)
from .batches import split_batches as split_batches
from .device import plan_graph as plan_graph, probe_device as probe_device
from .encoder_agreement import compare_encoders as compare_encoders
from .fusion import (
    BY_SCORES as BY_SCORES,
    DEFAULT_PARTS as DEFAULT_PARTS,
    HIERARCHY as HIERARCHY,
    LEVEL_PARTS as LEVEL_PARTS,
    PIECES as PIECES,
    Candidates as Candidates,
    Ranked as Ranked,
    fuse_scores as fuse_scores,
    lift as lift,
    merge_neighbours as merge_neighbours,
    score_cells as score_cells,
    shares as shares,
)
from .highlights import Span as Span, spans as spans
from .index import (
    DenseVector as DenseVector,
    Filter as Filter,
    Hit as Hit,
    Index as Index,
    MultiVector as MultiVector,
    Point as Point,
    SparseVector as SparseVector,
    StagedIndex as StagedIndex,
    StagingIndex as StagingIndex,
    Vector as Vector,
    VectorSearch as VectorSearch,
)
from .index_client import HostedIndex as HostedIndex, HostedServerIndex as HostedServerIndex
from .index_document import IndexDocument as IndexDocument, keywords as keywords
from .index_edge import EdgeIndex as EdgeIndex
from .index_rules import BM25 as BM25, LEVELS as LEVELS, check_vector as check_vector, has_bytes as has_bytes
from .index_server import SharedCollection as SharedCollection
from .keyboard import (
    FIRST_CONSONANTS as FIRST_CONSONANTS,
    first_consonants as first_consonants,
    key_sequence as key_sequence,
)
from .levels import level_points as level_points, level_texts as level_texts
from .lexical import (
    LexicalQuery as LexicalQuery,
    QueryAnalyzer as QueryAnalyzer,
    certain_spellings as certain_spellings,
    heard_as as heard_as,
    initials_sentence as initials_sentence,
    inverse_document_frequency as inverse_document_frequency,
)
from .morphemes import (
    ANALYZER as ANALYZER,
    DEFAULT_PARAMS as DEFAULT_PARAMS,
    Analyzer as Analyzer,
    Bm25Params as Bm25Params,
    QueryMorphemes as QueryMorphemes,
    TextMorphemes as TextMorphemes,
    blank_unspoken as blank_unspoken,
    document_bigrams as document_bigrams,
    words as words,
)
from .neural import (
    LATE as LATE,
    NEURAL as NEURAL,
    PATIENCE_S as PATIENCE_S,
    POOLED as POOLED,
    Encoded as Encoded,
    Encoder as Encoder,
    Models as Models,
    Reranker as Reranker,
    main_name as main_name,
    multivector_name as multivector_name,
    piece_id as piece_id,
    token_kind as token_kind,
    vector_names as vector_names,
)
from .neural_client import HostedModels as HostedModels
from .numerals import COUNTERS as COUNTERS, DIGITS as DIGITS, LARGE as LARGE, ONES as ONES, SMALL as SMALL, TENS as TENS
from .ollama_encoder import (
    EncoderOffer as EncoderOffer,
    OllamaEncoders as OllamaEncoders,
    choose_encoder as choose_encoder,
    find_digest as find_digest,
)
from .payload import to_payload as to_payload
from .periods import parse_period as parse_period
from .pieces import cut_pieces as cut_pieces
from .query import (
    KINDS as KINDS,
    KOREAN as KOREAN,
    QUOTES as QUOTES,
    Part as Part,
    PeriodOffer as PeriodOffer,
    Query as Query,
    kind_named as kind_named,
    offer_period as offer_period,
    parse_day as parse_day,
    parse_filtered as parse_filtered,
    parse_query as parse_query,
    query_parts as query_parts,
)
from .readings import LETTER_NAMES as LETTER_NAMES
from .reasons import (
    REASONS as REASONS,
    FoundWord as FoundWord,
    is_borrowed as is_borrowed,
    words_by_source as words_by_source,
    words_reason as words_reason,
)
from .reranking import (
    FULL as FULL,
    IN_ANSWER as IN_ANSWER,
    UNMEASURED_DEPTH as UNMEASURED_DEPTH,
    RerankBudget as RerankBudget,
    RerankCache as RerankCache,
    reorder as reorder,
)
from .scenes import (
    Mention as Mention,
    OwnWindows as OwnWindows,
    Scene as Scene,
    make_scenes as make_scenes,
    passage as passage,
    passages as passages,
)
from .search import (
    DEPTH as DEPTH,
    LEXICAL as LEXICAL,
    ORDERS as ORDERS,
    RETRIEVERS as RETRIEVERS,
    SEARCH_PARTS as SEARCH_PARTS,
    Ranking as Ranking,
    Searcher as Searcher,
    SearchResult as SearchResult,
    shares_text as shares_text,
    undated_sentence as undated_sentence,
)
from .sections import Section as Section, sections_of as sections_of, split_sections as split_sections
from .server_terms import (
    address as address,
    collection_address as collection_address,
    collection_name as collection_name,
    is_shared_place as is_shared_place,
    server_address as server_address,
)
from .suggestions import (
    MAX_SUGGESTIONS as MAX_SUGGESTIONS,
    Suggestion as Suggestion,
    suggest_queries as suggest_queries,
    suggestion_reason as suggestion_reason,
)
from .vector_backup import VectorBackup as VectorBackup, back_up_vectors as back_up_vectors, backup_path as backup_path
